import { message, type Message, type StartRun } from '#contracts';
import { runIdFromKey } from '#kernel';
import {
  openService,
  type HarnessOptions,
  type ServiceHarness,
} from '../../../libs/runtime/testing/service-harness.ts';
import { orchestratorDoor } from '../src/orchestrator.module.ts';
import { CONTRACTS, startData, TOOLSET } from './fixtures.ts';

const published = new Map(TOOLSET.map(({ digest }, i) => [digest, { digest, contract: CONTRACTS[i]! }]));
const reads = { 'gateway.contract': ({ digest }: { digest: string }) => published.get(digest) ?? null };

/** What the opening of a run of `start` is estimated at, without its answer. */
export const OPENING_TOKENS = 7;

export const openOrchestrator = (budgets: object | string, more: HarnessOptions = {}): Promise<ServiceHarness> =>
  openService(orchestratorDoor, {
    reads,
    ...more,
    env: { COUNTERSIGN_TENANT_BUDGETS: typeof budgets === 'string' ? budgets : JSON.stringify(budgets) },
  });

/** One run of a tenant, whatever process drives it. */
export class TenantRun {
  readonly runId: string;
  readonly tenant: string;
  constructor(tenant: string, key: string) {
    this.tenant = tenant;
    this.runId = runIdFromKey(tenant, 'user:alice', 'test', key);
  }

  about = (): { tenant: string; runId: string; now: number } => ({
    tenant: this.tenant,
    runId: this.runId,
    now: Date.now(),
  });
  start = (own: Partial<StartRun> = {}): Message<'StartRun'> =>
    message('StartRun', this.about(), startData('agent', { toolset: [], ...own }));
  answer = (turn: number, inputTokens: number | null, outputTokens: number | null = 0): Message<'TurnCompleted'> =>
    message('TurnCompleted', this.about(), {
      turn,
      text: 'Done.',
      responseId: null,
      proposals: [],
      usage: { inputTokens, outputTokens },
    });
}

/** Reserved and spent by the tenant, as the database has it; and what is granted beyond it. */
export async function usedBy({ database }: ServiceHarness, tenant: string): Promise<{ used: number; granted: number }> {
  const [row] = await database.query<{ used: number; granted: number }>({
    text: `select coalesce(sum(used), 0)::bigint used, coalesce(sum(granted), 0)::bigint granted
             from (select used, used as granted from tenant_budget where tenant = $1
                   union all select used, granted from tenant_budget_slice where tenant = $1) u`,
    values: [tenant],
  });
  return row!;
}
