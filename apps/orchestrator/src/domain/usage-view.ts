import type { TenantLimit } from '#contracts';
import { metersOf, valueOf, type TenantBudget } from './tenant-budget.ts';

/** What a tenant may use now, and has used of it. Only what has a limit is counted. */
export interface UsageView {
  readonly limits: readonly (Omit<TenantLimit, 'most'> & {
    /** `2026-11-30` or `2026-11`, UTC. */
    readonly name: string;
    /** Reserved and spent. */
    readonly used: number;
    readonly most: number;
    readonly left: number;
  })[];
}

/** @param used by period and kind, in the meters' units */
export function usageView(budget: TenantBudget | undefined, used: ReadonlyMap<string, number>, now: number): UsageView {
  const limits = metersOf(budget, now).map(({ id, period, kind, most, told }) => {
    const amount = used.get(id) ?? 0;
    return {
      period: told.period,
      name: period.slice(period.indexOf(':') + 1),
      limit: told.limit,
      used: valueOf(kind, amount),
      most: told.most,
      left: valueOf(kind, Math.max(0, most - amount)),
      renewsAt: told.renewsAt,
    };
  });
  return { limits };
}
