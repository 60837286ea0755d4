import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled } from '../../option-parsers.ts';
import { addressOf, toolName } from './tool-name.ts';

const VERBS = {
  quarantine: 'take a tool out of use at once: not listed, resolved, granted or sent until it is released',
  deprecate: 'say that people should move away from a tool; it goes on working',
  release: 'end the quarantine or deprecation of a tool',
};

interface StandOptions extends GatewayOptions {
  readonly reason: string;
}

export function addStandings(group: Command, config: CliConfig): void {
  for (const [verb, summary] of Object.entries(VERBS)) {
    const examples = [`countersign tools ${verb} desk.create_ticket@1.2.0 --reason "it closes the wrong tickets"`];
    addGatewayCommand(group, { usage: verb, summary, examples })
      .argument('<tool>', 'ns.name for all versions, also those to come, or ns.name@version', toolName)
      .requiredOption('--reason <text>', 'why; stands in the history of the tool', filled)
      .action(async (name: string, { reason, ...options }: StandOptions) => {
        const { client, out } = openGateway(config, options);
        const stands = await client.post<{ tool: string; standing: string | null }>(addressOf(name, `/${verb}`), {
          reason,
        });
        out.document(stands);
        out.line(`${stands.tool} is ${stands.standing ?? 'in use'}`);
      });
  }
}
