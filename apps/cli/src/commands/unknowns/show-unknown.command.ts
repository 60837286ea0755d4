import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { CallView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { callId } from '../../option-parsers.ts';
import { printUnknown } from './unknown-text.ts';

export function addShowUnknown(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'show',
    summary: 'show a call whose outcome is or was unknown, and what was found out',
    examples: ['countersign unknowns show call_01kb…_0001'],
  })
    .argument('<call>', 'id of the call', callId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const call = await client.get<CallView>(`/v1/calls/${id}`);
      out.document(call);
      printUnknown(out, call);
    });
}
