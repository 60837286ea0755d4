import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { UnknownView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { wholeNumber } from '../../option-parsers.ts';
import { ageText } from './unknown-text.ts';

const COLUMNS = [
  { title: 'CALL', of: (u: UnknownView) => u.callId },
  { title: 'TOOL', of: (u: UnknownView) => u.tool ?? '' },
  { title: 'FOR', of: (u: UnknownView) => ageText(u.ageMs) },
  { title: 'WHO FINDS OUT', of: (u: UnknownView) => (u.needsHuman ? 'a person' : 'the runtime looks') },
  { title: 'ASKED FOR BY', of: (u: UnknownView) => u.principal ?? '' },
];

export function addListUnknowns(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'list',
    summary: 'list calls whose outcome nobody knows: what waits for a person first, then the oldest',
    examples: ['countersign unknowns list', 'countersign unknowns list --json | jq -r .items[].callId'],
  })
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 50)
    .action(async ({ limit, ...options }: GatewayOptions & { readonly limit: number }) => {
      const { client, out } = openGateway(config, options);
      const items = await client.list<UnknownView>('/v1/unknowns', {}, limit);
      out.document({ items });
      out.table(COLUMNS, items, 'no outcome is unknown');
    });
}
