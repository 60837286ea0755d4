import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { CallView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { callId } from '../../option-parsers.ts';
import { cancellationText } from '../runs/run-text.ts';
import { printable } from '../../output/printable.ts';
import { toneOf } from '../../output/tones.ts';

export function addShowCall(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'show',
    summary: 'show a call: its decision, its attempts, its result',
    examples: [
      'countersign calls show call_01kb…_0001',
      'countersign calls show call_01kb…_0001 --json | jq .result.data',
    ],
  })
    .argument('<call>', 'id of the call', callId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const call = await client.get<CallView>(`/v1/calls/${id}`);
      out.document(call);
      out.fields([
        ['call', call.callId],
        ['run', call.runId],
        ['tool', call.tool],
        ['status', call.status, toneOf(call.status)],
        ['decision', call.decision],
        ['approval', call.approvalId],
        ['effect', call.effect],
        ['cancelled', call.cancellation && cancellationText(call.cancellation)],
        ['replayed', call.replayed ? 'yes' : null],
        ['attempts', call.attempts],
        ['took', typeof call.durationMs === 'number' ? `${call.durationMs} ms` : null],
        ['asked by', call.principal],
        ['contract', call.contractDigest],
        [
          'error',
          call.result?.ok === false ? `${call.result.error.code}: ${call.result.error.message}` : call.errorCode,
        ],
      ]);
      if (call.result?.ok !== true) return;
      out.line();
      out.line(out.paint('strong', 'Result (untrusted)'));
      out.line(printable(JSON.stringify(call.result.data, null, 2)));
    });
}
