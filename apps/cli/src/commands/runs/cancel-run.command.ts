import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { RunView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled, runId } from '../../option-parsers.ts';

interface CancelOptions extends GatewayOptions {
  readonly reason?: string;
}

export function addCancelRun(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'cancel',
    summary:
      'end a run: what has not begun is cancelled, running tools are told to stop; each call says what came of it',
    examples: ['countersign runs cancel run_01kb… --reason "wrong customer"'],
  })
    .argument('<run>', 'id of the run', runId)
    .option('--reason <text>', 'why; stands in the audit', filled)
    .action(async (id: string, { reason, ...options }: CancelOptions) => {
      const { client, out } = openGateway(config, options);
      const body = reason === undefined ? {} : { reason };
      const answer = await client.post<RunView>(`/v1/runs/${id}/cancel`, body, { key: randomUUID() });
      out.document(answer);
      out.line(
        answer.status === 'cancelled' ? `run ${id} is cancelled` : `run ${id}: the cancellation is ${answer.status}`,
      );
    });
}
