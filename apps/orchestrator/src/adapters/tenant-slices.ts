import type { Database, Tx } from '#persistence';
import { budgetOfTenant, type TenantBudgets } from '../domain/tenant-budget.ts';
import type { Charge, Need, TenantRoom } from '../domain/tenant-use.ts';
import { leaseTenantBudget, type LeasedSlice } from './lease-tenant-budget.query.ts';
import { returnTenantBudget } from './return-tenant-budget.query.ts';
import { useTenantBudget } from './use-tenant-budget.query.ts';

export interface TenantBudgetSource {
  readonly current: TenantBudgets;
}

const keyOf = (tenant: string, meter: string): string => `${tenant}/${meter}`;

/**
 * The slices of tenants' budgets that this process holds (domain/tenant-budget.ts). What stands here is only what the
 * process thinks: the database decides, and a slice that is not as it was thought to be fails the use of it.
 */
export class TenantSlices {
  readonly #database: Database;
  readonly #source: TenantBudgetSource;
  readonly #owner: string;
  readonly #held = new Map<string, LeasedSlice>();

  constructor(database: Database, source: TenantBudgetSource, owner: string) {
    this.#database = database;
    this.#source = source;
    this.#owner = owner;
  }

  /** @param exhausted what `lease` answered for this decision */
  room(exhausted: ReadonlySet<string>): TenantRoom {
    return {
      budgetOf: (tenant) => budgetOfTenant(this.#source.current, tenant),
      left: (tenant, meter) => this.#held.get(keyOf(tenant, meter))?.left,
      isExhausted: (tenant, meter) => exhausted.has(keyOf(tenant, meter)),
    };
  }

  /** Leases what a decision lacks; answers what there is too little of. In the order of the meters, so that no two wait for each other. */
  async lease(needs: readonly Need[]): Promise<string[]> {
    const sorted = [...needs].sort((a, b) => (keyOf(a.tenant, a.meter) < keyOf(b.tenant, b.meter) ? -1 : 1));
    return this.#database.transaction(async (tx) => {
      const lacking: string[] = [];
      for (const need of sorted) {
        const slice = await leaseTenantBudget(tx, this.#owner, need);
        this.#held.set(keyOf(need.tenant, need.meter), slice);
        if (slice.left < need.total) lacking.push(keyOf(need.tenant, need.meter));
      }
      return lacking;
    });
  }

  /** In the transaction that saves the runs. @throws an error of which `isSliceLost` is true */
  async use(tx: Tx, charges: readonly Charge[]): Promise<void> {
    await useTenantBudget(
      tx,
      charges.map(({ tenant, meter, amount, over }) => {
        return { epoch: this.#held.get(keyOf(tenant, meter))?.epoch ?? -1, amount, over };
      }),
    );
  }

  /** After the commit. */
  used(charges: readonly Charge[]): void {
    for (const { tenant, meter, amount } of charges) {
      const slice = this.#held.get(keyOf(tenant, meter));
      if (slice) this.#held.set(keyOf(tenant, meter), { ...slice, left: slice.left - amount });
    }
  }

  /** Nobody knows how they stand: they are looked up before they are used again. */
  forget(): void {
    this.#held.clear();
  }

  start(): void {}

  async drain(): Promise<void> {
    if (this.#held.size === 0) return;
    this.#held.clear();
    await returnTenantBudget(this.#database, this.#owner).catch(() => undefined); // their leases run out
  }
}
