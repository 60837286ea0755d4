import type { TenantLimit, Usage } from '#contracts';
import { nextInputTokens } from './usage.ts';
import { budgetsOf, withState, type End, type Run } from './run-state.ts';
import type { Env } from './saga.types.ts';
import { amountOf, metersOf, MICROS, type Kind, type Meter, type TenantBudget } from './tenant-budget.ts';

/** What a run has charged to a meter. */
export interface Charged {
  readonly amount: number;
  /** As far as it was used beyond what had been reserved. */
  readonly over: number;
}
/** What the turn that is asked for has reserved. */
export interface Reserved {
  readonly turn: number;
  readonly tokens: number;
  /** Millionths of a US dollar. */
  readonly cost: number;
  readonly meters: readonly { readonly id: string; readonly kind: Kind }[];
}
export interface Charge extends Charged {
  readonly tenant: string;
  readonly meter: string;
}

/** What tenants may use, as far as this process knows it. */
export interface TenantRoom {
  budgetOf(tenant: string): TenantBudget | undefined;
  /** What is left of the slice that is held; undefined = none is. */
  left(tenant: string, meter: string): number | undefined;
  /** More was looked for already, in vain. */
  isExhausted(tenant: string, meter: string): boolean;
}
export interface Need {
  readonly tenant: string;
  readonly meter: string;
  readonly period: string;
  readonly kind: Kind;
  readonly most: number;
  /** With less nothing can begin; `total` is what all of them need. */
  readonly least: number;
  readonly total: number;
}
/** Tells the caller to lease these and to decide again; nothing was decided. */
export class SliceShort extends Error {
  readonly needs: readonly Need[];
  constructor(needs: readonly Need[]) {
    super('slices of the budget of a tenant must be leased first');
    this.needs = needs;
  }
}

type Wanted = { readonly [K in Kind]?: number };

/** Charges the run's tenant, all or nothing. @throws SliceShort */
export function charge(run: Run, wanted: Wanted, env: Env, more = 1): { run: Run } | { stop: TenantLimit } {
  const { tenant } = run.definition;
  const meters = metersOf(env.tenants?.budgetOf(tenant), env.now).filter(({ kind }) => wanted[kind] !== undefined);
  if (meters.length === 0 || !env.tenants) return { run };
  const short: Need[] = [];
  for (const meter of meters) {
    const need = wanted[meter.kind]!;
    const left = env.tenants.left(tenant, meter.id);
    const here = (run.state.charged?.[meter.id]?.amount ?? 0) - (env.before?.[meter.id]?.amount ?? 0);
    if (left !== undefined && left - here >= need) continue;
    if (env.tenants.isExhausted(tenant, meter.id)) return { stop: meter.told };
    const { id, period, kind, most } = meter;
    short.push({ tenant, meter: id, period, kind, most, least: here + need, total: here + need * more });
  }
  if (short.length > 0) throw new SliceShort(short);
  return { run: meters.reduce((to, meter) => charged(to, meter.id, wanted[meter.kind]!, 0), run) };
}

/** Reserves what the next request to the model may use at most, and binds the request to it. @throws SliceShort */
export function reserveRequest(run: Run, env: Env): { run: Run } | { stop: TenantLimit } {
  const budget = env.tenants?.budgetOf(run.definition.tenant);
  const meters = metersOf(budget, env.now).filter(({ kind }) => kind !== 'calls');
  if (!budget || meters.length === 0) return { run };
  const { maxOutputTokens, maxCostUsd, allowUnknownCost } = budgetsOf(run);
  const { used, turns } = run.state;
  const answerTokens = Math.min(budget.answerTokens, maxOutputTokens - used.outputTokens);
  const tokens = boundedInput(run) + answerTokens;
  const ownCost = allowUnknownCost ? Infinity : Math.max(0, maxCostUsd - used.costUsd);
  const cost = Math.max(1, Math.floor(Math.min(budget.requestCostUsd, ownCost) * MICROS));
  const taken = charge(run, { tokens, costUsd: cost }, env);
  if ('stop' in taken) return taken;
  const reserved = { turn: turns + 1, tokens, cost, meters: meters.map(({ id, kind }) => ({ id, kind })) };
  return { run: withState(taken.run, { reserved }) };
}

/** Definitions of tools that no turn has sent yet. */
const TOKENS_OF_TOOL = 500;
/** The model adapter counts a request by its bytes, and never too few: what the provider counted before is less. */
const BOUND = 1.5;
const boundedInput = (run: Run): number => {
  const known = run.state.used.contextTokens;
  const tools = known === 0 ? run.definition.toolset.length * TOKENS_OF_TOOL : 0;
  return nextInputTokens(run) + Math.ceil(known * (BOUND - 1)) + tools;
};

/**
 * Settles what a turn had reserved.
 * @param usage as far as it is known; `unsent`: no request was made
 */
export function settleRequest(run: Run, turn: number, usage: Usage | undefined | 'unsent'): Run {
  const { reserved } = run.state;
  if (reserved?.turn !== turn) return run;
  const actual = { tokens: tokensUsed(reserved.tokens, usage), costUsd: costUsed(reserved.cost, usage) };
  const freed = withState(run, { reserved: undefined });
  return reserved.meters.reduce((to, { id, kind }) => {
    const [was, is] = kind === 'tokens' ? [reserved.tokens, actual.tokens] : [reserved.cost, actual.costUsd];
    return charged(to, id, is - was, Math.max(0, is - was));
  }, freed);
}

function tokensUsed(reserved: number, usage: Usage | undefined | 'unsent'): number {
  if (usage === 'unsent') return 0;
  const [input = null, output = null] = [usage?.inputTokens, usage?.outputTokens];
  const known = (input ?? 0) + (output ?? 0);
  return input === null || output === null ? Math.max(reserved, known) : known;
}

function costUsed(reserved: number, usage: Usage | undefined | 'unsent'): number {
  if (usage === 'unsent') return 0;
  return usage?.costUsd == null ? reserved : amountOf('costUsd', usage.costUsd);
}

function charged(run: Run, meter: string, amount: number, over: number): Run {
  if (amount === 0) return run;
  const before = run.state.charged?.[meter] ?? { amount: 0, over: 0 };
  const now = { amount: before.amount + amount, over: before.over + over };
  return withState(run, { charged: { ...run.state.charged, [meter]: now } });
}

/** What a step has charged (B5). */
export function chargesOf(before: Run | null, after: Run): Charge[] {
  const [was, is] = [before?.state.charged, after.state.charged];
  if (was === is || is === undefined) return [];
  const { tenant } = after.definition;
  return Object.entries(is)
    .map(([meter, { amount, over }]) => ({
      tenant,
      meter,
      amount: amount - (was?.[meter]?.amount ?? 0),
      over: over - (was?.[meter]?.over ?? 0),
    }))
    .filter(({ amount, over }) => amount !== 0 || over !== 0);
}

/** One for each meter, without those that came to nothing. */
export function sumCharges(charges: readonly Charge[]): Charge[] {
  const sums = new Map<string, Charge>();
  for (const one of charges) {
    const key = `${one.tenant}/${one.meter}`;
    const known = sums.get(key) ?? { amount: 0, over: 0 };
    sums.set(key, { ...one, amount: known.amount + one.amount, over: known.over + one.over });
  }
  return [...sums.values()].filter(({ amount, over }) => amount !== 0 || over !== 0);
}

const UNITS: Readonly<Record<Kind, string>> = { calls: 'calls', tokens: 'tokens', costUsd: 'US dollars' };

export function tenantText({ period, limit, most, renewsAt }: TenantLimit): string {
  return `The tenant's limit of ${UNITS[limit]} for this ${period} (${most}) leaves no room; it is renewed at ${renewsAt}`;
}

export const tenantEnd = (tenant: TenantLimit): End => ({
  status: 'budget_exhausted',
  cause: {
    code: 'BUDGET_EXHAUSTED',
    message: `${tenantText(tenant)}. Then, or after a raise, resume the run as it is`,
    tenant,
  },
  answer: null,
});

/** The tenant's limit that bound the request which was reserved last. */
export function boundByTenant(run: Run, kind: Kind, env: Env): Meter['told'] | undefined {
  if (!run.state.reserved?.meters.some((meter) => meter.kind === kind)) return undefined;
  return metersOf(env.tenants?.budgetOf(run.definition.tenant), env.now).find((meter) => meter.kind === kind)?.told;
}
