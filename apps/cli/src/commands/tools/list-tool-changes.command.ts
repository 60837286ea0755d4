import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { ToolChangeView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { wholeNumber } from '../../option-parsers.ts';
import { addressOf, toolName } from './tool-name.ts';

const COLUMNS = [
  { title: 'WHEN', of: ({ at }: ToolChangeView) => at },
  { title: 'WHAT', of: ({ change }: ToolChangeView) => change },
  { title: 'VERSION', of: ({ version }: ToolChangeView) => version ?? 'all' },
  { title: 'BY', of: ({ by }: ToolChangeView) => by },
  { title: 'WHY', of: ({ reason }: ToolChangeView) => reason ?? '' },
];

export function addToolChanges(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'changes',
    summary: 'say what became of a tool, newest first: who published, reviewed, stopped or released it, and why',
    examples: ['countersign tools changes desk.create_ticket', 'countersign tools changes desk.find@2.0.0 --json'],
  })
    .argument('<tool>', 'ns.name, or ns.name@version', toolName)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 50)
    .action(async (name: string, { limit, ...options }: GatewayOptions & { readonly limit: number }) => {
      const { client, out } = openGateway(config, options);
      const items = await client.list<ToolChangeView>(addressOf(name, '/changes'), {}, limit);
      out.document({ items });
      out.table(COLUMNS, items, 'nothing became of it');
    });
}
