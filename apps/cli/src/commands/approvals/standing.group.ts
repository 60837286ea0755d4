import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled, standingId, wholeNumber } from '../../option-parsers.ts';

interface StandingView {
  readonly standingId: string;
  readonly status: string;
  readonly tool: string;
  readonly principal: string | null;
  readonly uses: number;
  readonly used: number;
  readonly amountUsed: number;
  readonly totalAmount: number | null;
  readonly expiresAt: string;
  readonly grantedBy: string;
}

interface GrantOptions extends GatewayOptions {
  readonly uses: number;
  readonly days: number;
  readonly principal?: string;
  readonly resource?: readonly string[];
  readonly max?: number;
  readonly total?: number;
  readonly reason?: string;
}

const COLUMNS = [
  { title: 'STANDING GRANT', of: (s: StandingView) => s.standingId },
  { title: 'STATUS', of: (s: StandingView) => s.status },
  { title: 'TOOL', of: (s: StandingView) => s.tool },
  { title: 'FOR', of: (s: StandingView) => s.principal ?? 'anybody' },
  { title: 'USED', of: (s: StandingView) => `${s.used}/${s.uses}` },
  { title: 'AMOUNT', of: (s: StandingView) => (s.totalAmount === null ? '' : `${s.amountUsed}/${s.totalAmount}`) },
  { title: 'EXPIRES', of: (s: StandingView) => s.expiresAt },
  { title: 'BY', of: (s: StandingView) => s.grantedBy },
];
const AMOUNT = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const DAY_MS = 86_400_000;

/** What people allow in advance. */
export function addStanding(approvals: Command, config: CliConfig): void {
  const group = approvals
    .command('standing')
    .helpCommand(false)
    .description('allow calls of a tool in advance, within bounds, and take it back');
  addList(group, config);
  addGrant(group, config);
  addRevoke(group, config);
}

function addList(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'list',
    summary: 'list what is allowed in advance, and what was used of it',
    examples: ['countersign approvals standing list'],
  })
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 50)
    .action(async ({ limit, ...options }: GatewayOptions & { limit: number }) => {
      const { client, out } = openGateway(config, options);
      const items = await client.list<StandingView>('/v1/standing-grants', {}, limit);
      out.document({ items });
      out.table(COLUMNS, items, 'nothing is allowed in advance');
    });
}

function addGrant(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'grant',
    summary: 'allow so many calls of a tool without asking each time',
    examples: [
      'countersign approvals standing grant refunds.execute --uses 10 --days 7 --max 5000 --total 20000 --principal user:alice',
    ],
  })
    .argument('<tool>', 'ns.name', filled)
    .requiredOption('--uses <n>', 'how many calls at most', wholeNumber(1, 10_000))
    .option('--days <n>', 'for how long', wholeNumber(1, 90), 7)
    .option('--principal <id>', 'only for this caller', filled)
    .option('--resource <pattern>', 'only for resources like this; may be given several times', gather)
    .option('--max <amount>', 'of one call', AMOUNT)
    .option('--total <amount>', 'of all calls together', AMOUNT)
    .option('--reason <text>', 'why', filled)
    .action(async (tool: string, options: GrantOptions) => {
      const { client, out } = openGateway(config, options);
      const { uses, days, principal, resource: resources, max: maxAmount, total: totalAmount, reason } = options;
      const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString();
      const body = { tool, uses, expiresAt, principal, resources, maxAmount, totalAmount, reason };
      const given = await client.post<StandingView>('/v1/standing-grants', body);
      out.document(given);
      out.line(`${given.standingId}: ${given.tool}, ${given.uses} calls until ${given.expiresAt}`);
    });
}

const gather = (text: string, before: readonly string[] = []): string[] => [...before, filled(text)];

function addRevoke(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'revoke',
    summary: 'end a standing grant: it answers for no call any more',
    examples: ['countersign approvals standing revoke stand_01kb…'],
  })
    .argument('<standing>', 'id of the standing grant', standingId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const ended = await client.post<StandingView>(`/v1/standing-grants/${id}/revoke`, {});
      out.document(ended);
      out.line(`${ended.standingId} is ${ended.status}`);
    });
}
