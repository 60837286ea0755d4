import { Option, type Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { ApprovalView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { wholeNumber } from '../../option-parsers.ts';

interface ListOptions extends GatewayOptions {
  readonly status: string;
  readonly limit: number;
}

const STATUSES = ['pending', 'approved', 'rejected', 'expired', 'withdrawn', 'superseded', 'consumed', 'all'];
const COLUMNS = [
  { title: 'APPROVAL', of: (a: ApprovalView) => a.approvalId },
  { title: 'STATUS', of: (a: ApprovalView) => a.status },
  { title: 'TOOL', of: (a: ApprovalView) => a.tool },
  { title: 'RISK', of: (a: ApprovalView) => a.risk },
  { title: 'ASKED FOR BY', of: (a: ApprovalView) => a.requester.id },
  { title: 'EXPIRES', of: (a: ApprovalView) => a.expiresAt },
  { title: 'ARGUMENTS', of: (a: ApprovalView) => JSON.stringify(a.arguments) },
];

export function addListApprovals(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'list',
    summary: 'list what waits for a decision, oldest first',
    examples: ['countersign approvals list', 'countersign approvals list --status all --json'],
  })
    .addOption(new Option('--status <status>', 'only approvals in this state').choices(STATUSES).default('pending'))
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 50)
    .action(async ({ status, limit, ...options }: ListOptions) => {
      const { client, out } = openGateway(config, options);
      const wanted = status === 'all' ? {} : { status };
      const items = await client.list<ApprovalView>('/v1/approvals', wanted, limit);
      out.document({ items });
      out.table(COLUMNS, items, status === 'pending' ? 'nothing waits for a decision' : 'no approvals');
    });
}
