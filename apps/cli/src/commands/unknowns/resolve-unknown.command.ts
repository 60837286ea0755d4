import { createHash } from 'node:crypto';
import { Option, type Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { CallView } from '../../client/views.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { callId, filled } from '../../option-parsers.ts';
import { printUnknown } from './unknown-text.ts';

interface ResolveOptions extends GatewayOptions {
  readonly as: string;
  readonly evidence: string;
  readonly result?: string;
  readonly yes: boolean;
}

const RESOLUTIONS = ['applied', 'not-applied', 'partially-applied'];

export function addResolveUnknown(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'resolve',
    summary: 'say what became of a call whose outcome is unknown; it is shown first',
    examples: [
      'countersign unknowns resolve call_01kb…_0001 --as applied --evidence "ticket T-7 was opened at 10:02"',
      'countersign unknowns resolve call_01kb…_0001 --as not-applied --evidence "no such payment in the ledger" --yes',
    ],
  })
    .argument('<call>', 'id of the call', callId)
    .addOption(
      new Option('--as <resolution>', 'what happened in the outside world').choices(RESOLUTIONS).makeOptionMandatory(),
    )
    .requiredOption('--evidence <text>', 'how you know: where you looked and what you saw', filled)
    .option('--result <json>', 'with --as applied: what the tool would have answered', filled)
    .option('--yes', 'do not ask', false)
    .action(async (id: string, { as, evidence, result, yes, ...options }: ResolveOptions) => {
      const { client, out } = openGateway(config, options);
      if (!yes && !out.interactive) throw usageFailure('there is no terminal to ask: give --yes');
      const known = resultOf(result);
      const call = await client.get<CallView>(`/v1/calls/${id}`);
      printUnknown(out, call);
      out.line();
      if (!yes && !(await out.confirm(`Say for good that it was ${as}?`)))
        throw new CommandFailure(EXIT.failed, 'nothing was said');
      const body = { resolution: as.replace('-', '_'), evidence, ...known };
      // The same words again are the same command.
      const key = createHash('sha256')
        .update(JSON.stringify([id, body]))
        .digest('hex');
      const resolved = await client.post<CallView>(`/v1/calls/${id}/resolve`, body, { key });
      out.document(resolved);
      out.line(
        resolved.status === 'needs_human'
          ? out.paint('wait', 'recorded; a second person must say the same')
          : out.paint('good', `the call is now "${resolved.status}"`),
      );
    });
}

function resultOf(text: string | undefined): { result?: unknown } {
  if (text === undefined) return {};
  try {
    return { result: JSON.parse(text) as unknown };
  } catch {
    throw usageFailure('--result is not JSON');
  }
}
