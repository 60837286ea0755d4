import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { isEnded } from '../../client/views.ts';
import { EXIT } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { runId } from '../../option-parsers.ts';
import type { Output } from '../../output/output.ts';
import { toneOf } from '../../output/tones.ts';
import { followRun, type RunChange } from './follow-run.ts';
import { callText, printRun } from './run-text.ts';

export function addWatchRun(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'watch',
    summary: 'follow a run to its end; exit 1 unless it completes',
    examples: [
      'countersign runs watch run_01kb…',
      'countersign runs watch run_01kb… --json   # one JSON line a change',
    ],
  })
    .argument('<run>', 'id of the run', runId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const run = await followRun(client, id, showProgress(out));
      process.exitCode = run.status === 'completed' ? EXIT.ok : EXIT.failed;
    });
}

/** Prints each change of a run, and the whole run at its end. */
export const showProgress =
  (out: Output) =>
  (change: RunChange): void => {
    out.jsonLine(change);
    if (change.type === 'call') {
      const { callId, tool, status, approvalId } = change.call;
      out.line(`${out.paint(toneOf(status), '•')} ${tool ?? callId}: ${callText(change.call)}`);
      if (status === 'asked' && approvalId) out.line(out.paint('dim', `  countersign approvals show ${approvalId}`));
      return;
    }
    if (!isEnded(change.run)) return out.progress(`${change.run.status} …`);
    out.line();
    printRun(out, change.run);
  };
