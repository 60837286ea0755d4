import type { Run } from './run-state.ts';
import type { Env } from './saga.types.ts';
import { chargesOf, SliceShort, type Charge, type Need, type TenantRoom } from './tenant-use.ts';

const NOTHING = { amount: 0, over: 0 };
const keyOf = ({ tenant, meter }: { readonly tenant: string; readonly meter: string }): string => `${tenant}/${meter}`;

/** What the steps of one batch charge to their tenants: each step sees what the ones before it have left. */
export class BatchUse {
  readonly #tenants: TenantRoom | undefined;
  readonly #spent = new Map<string, Charge>();
  readonly #needs = new Map<string, Need>();

  constructor(tenants: TenantRoom | undefined) {
    this.#tenants = tenants;
  }

  envOf(run: Run | null, env: Env): Env {
    const tenants = this.#tenants;
    if (!tenants) return env;
    const left = (tenant: string, meter: string): number | undefined => {
      const held = tenants.left(tenant, meter);
      return held === undefined ? undefined : held - (this.#spent.get(keyOf({ tenant, meter })) ?? NOTHING).amount;
    };
    const room = {
      left,
      budgetOf: (tenant: string) => tenants.budgetOf(tenant),
      isExhausted: (tenant: string, meter: string) => tenants.isExhausted(tenant, meter),
    };
    return { ...env, tenants: room, before: run?.state.charged };
  }

  add(before: Run | null, after: Run): void {
    for (const charge of chargesOf(before, after)) {
      const known = this.#spent.get(keyOf(charge)) ?? NOTHING;
      const [amount, over] = [known.amount + charge.amount, known.over + charge.over];
      this.#spent.set(keyOf(charge), { ...charge, amount, over });
    }
  }

  lack(needs: readonly Need[]): void {
    for (const need of needs) {
      const known = this.#needs.get(keyOf(need));
      const [least, total] = [Math.min(known?.least ?? Infinity, need.least), (known?.total ?? 0) + need.total];
      this.#needs.set(keyOf(need), { ...need, least, total });
    }
  }

  /** @throws SliceShort with what must be leased first, in all */
  settle(): Charge[] {
    const charges = [...this.#spent.values()].filter(({ amount, over }) => amount !== 0 || over !== 0);
    for (const { tenant, meter, amount } of charges) {
      if (this.#tenants?.left(tenant, meter) !== undefined || this.#needs.has(keyOf({ tenant, meter }))) continue;
      // It was reserved on a slice of another process, or before a restart.
      const [period, kind] = meter.split('/') as [string, Need['kind']];
      const budgeted = Math.max(0, amount);
      this.#needs.set(keyOf({ tenant, meter }), { tenant, meter, period, kind, most: 0, least: 0, total: budgeted });
    }
    if (this.#needs.size === 0) return charges;
    const needs = [...this.#needs.values()].map((need) => {
      const spent = Math.max(0, (this.#spent.get(keyOf(need)) ?? NOTHING).amount);
      return { ...need, least: need.least + spent, total: need.total + spent };
    });
    throw new SliceShort(needs);
  }
}
