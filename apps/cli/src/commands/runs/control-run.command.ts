import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { RunView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled, runId } from '../../option-parsers.ts';

interface ControlOptions extends GatewayOptions {
  readonly reason?: string;
}

const CONTROLS = [
  { verb: 'pause', summary: 'begin nothing new in a run; what is out goes on', told: 'is paused' },
  { verb: 'take-over', summary: 'propose the calls of a run yourself; its driver waits', told: 'is yours' },
  { verb: 'hand-back', summary: 'let the driver of a run go on; a model is told the reason', told: 'goes on' },
] as const;

export function addControlRun(group: Command, config: CliConfig): void {
  for (const { verb, summary, told } of CONTROLS)
    addGatewayCommand(group, {
      usage: verb,
      summary,
      examples: [`countersign runs ${verb} run_01kb… --reason "the amount is checked by hand"`],
    })
      .argument('<run>', 'id of the run', runId)
      .option('--reason <text>', 'why', filled)
      .action(async (id: string, { reason, ...options }: ControlOptions) => {
        const { client, out } = openGateway(config, options);
        const body = reason === undefined ? {} : { reason };
        const answer = await client.post<RunView>(`/v1/runs/${id}/${verb}`, body, { key: randomUUID() });
        out.document(answer);
        out.line(`run ${id} ${told}`);
      });
}
