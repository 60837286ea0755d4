import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { Page } from '../../client/gateway-client.ts';
import type { ToolView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';

const COLUMNS = [
  { title: 'TOOL', of: (tool: ToolView) => tool.tool },
  { title: 'VERSION', of: (tool: ToolView) => tool.version },
  { title: 'LAYER', of: (tool: ToolView) => tool.layer },
  { title: 'RISK', of: (tool: ToolView) => tool.risk },
  { title: 'SIDE EFFECTS', of: (tool: ToolView) => tool.sideEffects },
  { title: 'APPROVAL', of: (tool: ToolView) => tool.approval },
  { title: 'TITLE', of: (tool: ToolView) => tool.title },
];

export function addListTools(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'list',
    summary: 'list the live version of each tool',
    examples: ['countersign tools list', "countersign tools list --json | jq -r '.items[].tool'"],
  }).action(async (options: GatewayOptions) => {
    const { client, out } = openGateway(config, options);
    const { items } = await client.get<Page<ToolView>>('/v1/tools');
    out.document({ items });
    out.table(COLUMNS, items, 'no tools are published');
  });
}
