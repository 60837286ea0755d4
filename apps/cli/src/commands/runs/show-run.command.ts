import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { RunView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { runId } from '../../option-parsers.ts';
import { printRun } from './run-text.ts';

export function addShowRun(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'show',
    summary: 'show a run: its calls, what was changed, what the model says',
    examples: ['countersign runs show run_01kb…', 'countersign runs show run_01kb… --json | jq .effects'],
  })
    .argument('<run>', 'id of the run', runId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const run = await client.get<RunView>(`/v1/runs/${id}`);
      out.document(run);
      printRun(out, run);
    });
}
