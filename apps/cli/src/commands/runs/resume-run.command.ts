import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { RunView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { runId, wholeNumber } from '../../option-parsers.ts';

interface ResumeOptions extends GatewayOptions {
  readonly maxTurns?: number;
  readonly maxCalls?: number;
  readonly wallClock?: number;
}

export function addResumeRun(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'resume',
    summary: 'go on with a run that a limit ended: with limits raised, or as it is when it was one of the tenant',
    examples: ['countersign runs resume run_01kb… --max-turns 20', 'countersign runs resume run_01kb…'],
  })
    .argument('<run>', 'id of the run', runId)
    .option('--max-turns <n>', 'turns of the model at most', wholeNumber(1, 1_000))
    .option('--max-calls <n>', 'calls at most', wholeNumber(1, 10_000))
    .option('--wall-clock <seconds>', 'seconds that the run may take', wholeNumber(1, 604_800))
    .action(async (id: string, { maxTurns, maxCalls, wallClock, ...options }: ResumeOptions) => {
      const { client, out } = openGateway(config, options);
      const raised = { maxTurns, maxCalls, wallClockMs: wallClock === undefined ? undefined : wallClock * 1000 };
      const budgets = Object.fromEntries(Object.entries(raised).filter(([, value]) => value !== undefined));
      const answer = await client.post<RunView>(`/v1/runs/${id}/resume`, { budgets }, { key: randomUUID() });
      out.document(answer);
      out.line(`run ${id} goes on`);
    });
}
