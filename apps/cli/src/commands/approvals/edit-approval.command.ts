import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parseJson } from '#kernel';
import type { CliConfig } from '../../cli.config.ts';
import type { ApprovalView } from '../../client/views.ts';
import { usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { approvalId, digest, filled } from '../../option-parsers.ts';

interface EditOptions extends GatewayOptions {
  readonly digest: string;
  readonly arguments: string;
  readonly reason?: string;
}

/** All arguments anew, so that what is proposed is exactly what the person wrote. */
export function addEdit(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'edit',
    summary: 'propose other arguments: the call is denied, a new one is asked about; nothing is approved',
    examples: [
      `countersign approvals edit appr_01kb… --digest sha256:… --arguments '{"title":"plan","text":"lunch"}'`,
      'countersign approvals edit appr_01kb… --digest sha256:… --arguments @arguments.json --reason "smaller amount"',
    ],
  })
    .argument('<approval>', 'id of the approval', approvalId)
    .requiredOption('--digest <digest>', 'of what you saw by "approvals show"', digest)
    .requiredOption('--arguments <json>', 'all arguments, as JSON or as @file', filled)
    .option('--reason <text>', 'why', filled)
    .action(async (id: string, { digest: seen, arguments: given, reason, ...options }: EditOptions) => {
      const { client, out } = openGateway(config, options);
      const body = { decision: 'edited', digest: seen, arguments: readArguments(given), ...(reason ? { reason } : {}) };
      const key = `edit-${id}-${seen.slice(-16)}`;
      const edited = await client.post<ApprovalView>(`/v1/approvals/${id}/decision`, body, { key });
      out.document(edited);
      out.line(
        `${edited.approvalId} is ${edited.status}; ${edited.replacedByCall ?? 'another call'} is asked about instead`,
      );
    });
}

const LIMITS = { maxBytes: 262_144, maxDepth: 32 };

function readArguments(given: string): unknown {
  try {
    return parseJson(given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given, LIMITS);
  } catch (error) {
    throw usageFailure(`--arguments: ${error instanceof Error ? error.message : String(error)}`);
  }
}
