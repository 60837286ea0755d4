import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, type Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { RunView } from '../../client/views.ts';
import { usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { runId } from '../../option-parsers.ts';
import { printRun } from './run-text.ts';

interface CompensateOptions extends GatewayOptions {
  readonly keep: boolean;
  readonly retry?: readonly string[];
  readonly skip?: readonly Told[];
  readonly done?: readonly Told[];
}
interface Told {
  readonly callId: string;
  readonly text: string;
}

const WAIT_S = 30;

export function addCompensateRun(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'compensate',
    summary:
      'undo what a run has done, the last first (an open one is cancelled before); settle what an earlier way back has left',
    examples: [
      'countersign runs compensate run_01kb…',
      'countersign runs compensate run_01kb… --retry call_01kb… --skip call_01kc…="the customer keeps it"',
      'countersign runs compensate run_01kb… --done call_01kb…="refunded by hand, receipt 4711"',
      'countersign runs compensate run_01kb… --keep',
    ],
  })
    .argument('<run>', 'id of the run', runId)
    .option('--keep', 'the run asked: what it did stays', false)
    .option('--retry <call>', 'try the undo of this call again; may be given several times', gather)
    .option('--skip <call=reason>', 'leave this call as it is, with the reason', gatherTold)
    .option('--done <call=evidence>', 'this call was undone by other means, with the evidence', gatherTold)
    .action(async (id: string, { keep, retry = [], skip = [], done = [], ...options }: CompensateOptions) => {
      const { client, out } = openGateway(config, options);
      const calls = [
        ...retry.map((callId) => ({ callId, how: 'retry' })),
        ...skip.map(({ callId, text }) => ({ callId, how: 'skip', reason: text })),
        ...done.map(({ callId, text }) => ({ callId, how: 'done', evidence: text })),
      ];
      if (keep && calls.length > 0) throw usageFailure('--keep goes without --retry, --skip and --done');
      const body = { decision: keep ? 'keep' : 'compensate', ...(calls.length === 0 ? {} : { calls }) };
      const wait = { key: randomUUID(), wait: WAIT_S };
      const answer = await client.post<RunView>(`/v1/runs/${id}/compensate`, body, wait);
      out.document(answer);
      if (answer.status === 'accepted') out.line(`run ${id} is on its way back`);
      else printRun(out, answer);
    });
}

const gather = (text: string, before: readonly string[] = []): string[] => [...before, text];

function gatherTold(text: string, before: readonly Told[] = []): Told[] {
  const at = text.indexOf('=');
  if (at < 1 || text.slice(at + 1).trim() === '')
    throw new InvalidArgumentError('expected the id of a call, "=" and why, such as call_01kb…="refunded by hand"');
  return [...before, { callId: text.slice(0, at), text: text.slice(at + 1) }];
}
