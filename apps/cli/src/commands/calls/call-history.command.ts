import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { callId } from '../../option-parsers.ts';

interface HistoryEntry {
  readonly at: string;
  readonly what: string;
  readonly [name: string]: unknown;
}

interface History {
  readonly callId: string;
  readonly status: string;
  readonly items: readonly HistoryEntry[];
  readonly truncated: boolean;
}

const COLUMNS = [
  { title: 'TIME', of: (entry: HistoryEntry) => entry.at },
  { title: 'WHAT', of: (entry: HistoryEntry) => entry.what.replaceAll('_', ' ') },
  { title: 'WITH', of: detailText },
];

export function addCallHistory(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'history',
    summary: 'show the life of a call in order: decisions, approvals, settlement, what came after',
    examples: [
      'countersign calls history call_01kb…_0001',
      "countersign calls history call_01kb…_0001 --json | jq '.items[].what'",
    ],
  })
    .argument('<call>', 'id of the call', callId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const history = await client.get<History>(`/v1/calls/${id}/history`);
      out.document(history);
      out.table(COLUMNS, history.items, 'nothing is known of this call yet');
      if (history.truncated) out.note('There is more: see "countersign audit tail".');
    });
}

/** `attempts=2 effect=applied`; digests are shortened, the whole ones are in --json. */
function detailText({ at: _at, what: _what, ...details }: HistoryEntry): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(',');
  const text = String(value);
  return text.startsWith('sha256:') ? text.slice(0, 19) : text;
}
