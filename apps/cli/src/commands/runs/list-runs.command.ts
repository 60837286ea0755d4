import { Option, type Command } from 'commander';
import { runStatusSchema } from '#contracts';
import type { CliConfig } from '../../cli.config.ts';
import type { RunView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled, labels, wholeNumber } from '../../option-parsers.ts';
import { labelText } from './run-text.ts';

interface ListOptions extends GatewayOptions {
  readonly status?: string;
  readonly agent?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly limit: number;
}

const COLUMNS = [
  { title: 'RUN', of: (run: RunView) => run.runId },
  { title: 'STATUS', of: (run: RunView) => run.status },
  { title: 'AGENT', of: (run: RunView) => run.agent ?? '(client)' },
  { title: 'CALLS', of: (run: RunView) => String(run.calls?.length ?? 0) },
  { title: 'STARTED', of: (run: RunView) => run.startedAt ?? '' },
  { title: 'LABELS', of: (run: RunView) => labelText(run.labels) },
];

export function addListRuns(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'list',
    summary: 'list runs, newest first: your own, or all of the tenant for operators and auditors',
    examples: ['countersign runs list --status awaiting_approval', 'countersign runs list --label team=shop --limit 5'],
  })
    .addOption(new Option('--status <status>', 'only runs in this state').choices(runStatusSchema.options))
    .option('--agent <name>', 'only runs of this agent', filled)
    .option('--label <key=value>', 'only runs with this label; may be given several times', labels)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 20)
    .action(async ({ status, agent, label, limit, ...options }: ListOptions) => {
      const { client, out } = openGateway(config, options);
      const wanted = { status, agent, label: Object.entries(label ?? {}).map(([key, value]) => `${key}:${value}`) };
      const items = await client.list<RunView>('/v1/runs', wanted, limit);
      out.document({ items });
      out.table(COLUMNS, items, 'no runs');
    });
}
