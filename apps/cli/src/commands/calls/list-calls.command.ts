import { Option, type Command } from 'commander';
import { SETTLED_STATUSES } from '#contracts';
import type { CliConfig } from '../../cli.config.ts';
import type { CallView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled, runId, wholeNumber } from '../../option-parsers.ts';
import { callText } from '../runs/run-text.ts';

interface ListOptions extends GatewayOptions {
  readonly run?: string;
  readonly status?: string;
  readonly tool?: string;
  readonly limit: number;
}

const OPEN = ['proposed', 'asked', 'granted'];
const COLUMNS = [
  { title: 'CALL', of: (call: CallView) => call.callId },
  { title: 'TOOL', of: (call: CallView) => call.tool ?? '' },
  { title: 'DECISION', of: (call: CallView) => call.decision ?? '' },
  { title: 'STATUS', of: callText },
];

export function addListCalls(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'list',
    summary: 'list calls, newest first',
    examples: ['countersign calls list --run run_01kb…', 'countersign calls list --status outcome_unknown'],
  })
    .option('--run <run>', 'only calls of this run', runId)
    .addOption(new Option('--status <status>', 'only calls in this state').choices([...OPEN, ...SETTLED_STATUSES]))
    .option('--tool <tool>', 'only calls of this tool: ns.name, or ns.name@version', filled)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 20)
    .action(async ({ run, status, tool, limit, ...options }: ListOptions) => {
      const { client, out } = openGateway(config, options);
      const items = await client.list<CallView>('/v1/calls', { runId: run, status, tool }, limit);
      out.document({ items });
      out.table(COLUMNS, items, 'no calls');
    });
}
