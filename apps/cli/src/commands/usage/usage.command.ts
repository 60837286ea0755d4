import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { TenantLimitView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';

const COLUMNS = [
  { title: 'PERIOD', of: (limit: TenantLimitView) => `${limit.period} ${limit.name}` },
  { title: 'LIMIT', of: (limit: TenantLimitView) => limit.limit },
  { title: 'USED', of: (limit: TenantLimitView) => String(limit.used) },
  { title: 'OF', of: (limit: TenantLimitView) => String(limit.most) },
  { title: 'RENEWED AT', of: (limit: TenantLimitView) => limit.renewsAt },
];

export function addUsage(program: Command, config: CliConfig): void {
  addGatewayCommand(program, {
    usage: 'usage',
    summary: 'show what all runs of the tenant have used of its limits, today and this month',
    examples: ['countersign usage', 'countersign usage --json | jq .limits[].left'],
  }).action(async (options: GatewayOptions) => {
    const { client, out } = openGateway(config, options);
    const usage = await client.get<{ readonly limits: readonly TenantLimitView[] }>('/v1/usage');
    out.document(usage);
    out.table(COLUMNS, usage.limits, 'the tenant has no limits');
  });
}
