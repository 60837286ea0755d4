import { z } from 'zod';
import type { TenantLimit } from '#contracts';
import { parseJson } from '#kernel';

/**
 * What the runs of a tenant may use together in a day or a month (UTC), whatever process drives them (G8).
 *
 * A meter is one limit of one period. Orchestrators lease slices of it; a slice belongs to one owner and one epoch:
 *
 *   none ──lease──► held ──use──► held ──given back, or its lease ran out and another took it──► none (its use stays)
 *
 * B1 what was reserved and spent of a meter is never above its limit: use ≤ granted in each slice (a conditional update),
 *    granted + closed use ≤ limit (decided under the meter's lock). Only a provider that counts more than was reserved
 *    for a request can pass it; that is recorded, and nothing new begins.
 * B2 a request to the model reserves its estimate in the transaction that emits RequestTurn, and its limits bind the
 *    request to that estimate; a call is counted when it is admitted. Undos are not: the way back stays open.
 * B3 use is recorded in the transaction that saves the run, under the slice's epoch; a taken-over slice fails it whole.
 * B4 a turn settles what it reserved with what it used, on the meters that it was reserved on, also after the run's end;
 *    what nobody knows keeps its reservation; what was not sent is not charged.
 * B5 a run keeps what it has charged (`charged`); what a step charges is the difference, so a repeated step charges nothing.
 * B6 a tenant without a limit costs nothing: no statement, no state.
 */
export const PERIODS = ['day', 'month'] as const;
export const KINDS = ['calls', 'tokens', 'costUsd'] as const;
export type Kind = (typeof KINDS)[number];

const limitsSchema = z.strictObject({
  calls: z.int().min(0).max(1e12).optional(),
  tokens: z.int().min(0).max(1e12).optional(),
  /** US dollars. */
  costUsd: z.number().min(0).max(1e9).optional(),
});
const tenantBudgetSchema = z.strictObject({
  day: limitsSchema.optional(),
  month: limitsSchema.optional(),
  /** Reserved for the answer of one request, which cannot become longer. */
  answerTokens: z.int().min(16).max(1_000_000).default(8192),
  /** Reserved for the cost of one request, which cannot become dearer. */
  requestCostUsd: z.number().gt(0).max(100_000).default(1),
});
const tenantBudgetsSchema = z.record(z.string().regex(/^(\*|[a-z][a-z0-9-]{0,62})$/), tenantBudgetSchema);
export type TenantBudget = z.infer<typeof tenantBudgetSchema>;
export type TenantBudgets = Readonly<Record<string, TenantBudget>>;

/** @returns the budgets, or what is wrong with the text */
export function readTenantBudgets(text: string): TenantBudgets | { readonly faults: readonly string[] } {
  let given: unknown;
  try {
    given = parseJson(text);
  } catch {
    return { faults: ['expected strict JSON: {"*":{"day":{"calls":1000,"tokens":2000000,"costUsd":20}}}'] };
  }
  const parsed = tenantBudgetsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  return { faults: parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`) };
}

/** Its own, or what holds for everybody without one. */
export const budgetOfTenant = (budgets: TenantBudgets, tenant: string): TenantBudget | undefined =>
  Object.hasOwn(budgets, tenant) ? budgets[tenant] : budgets['*'];

export interface Meter {
  /** `day:2026-11-30/tokens` */
  readonly id: string;
  readonly period: string;
  readonly kind: Kind;
  /** Calls, tokens, or millionths of a US dollar. */
  readonly most: number;
  readonly told: TenantLimit;
}

export const MICROS = 1_000_000;
/** In the meter's unit; never less than what was used. */
export const amountOf = (kind: Kind, value: number): number =>
  kind === 'costUsd' ? Math.ceil(Number((value * MICROS).toFixed(3))) : value;
export const valueOf = (kind: Kind, amount: number): number => (kind === 'costUsd' ? amount / MICROS : amount);

/** The meters that hold now. @param now epoch milliseconds */
export function metersOf(budget: TenantBudget | undefined, now: number): Meter[] {
  if (!budget) return [];
  const today = new Date(now).toISOString();
  return PERIODS.flatMap((name) => {
    const period = name === 'day' ? `day:${today.slice(0, 10)}` : `month:${today.slice(0, 7)}`;
    return KINDS.flatMap((kind): Meter[] => {
      const most = budget[name]?.[kind];
      if (most === undefined) return [];
      const told = { period: name, limit: kind, most, renewsAt: renewalOf(name, now) };
      return [{ id: `${period}/${kind}`, period, kind, most: amountOf(kind, most), told }];
    });
  });
}

function renewalOf(period: (typeof PERIODS)[number], now: number): string {
  const at = new Date(now);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  const next = period === 'day' ? Date.UTC(year, month, at.getUTCDate() + 1) : Date.UTC(year, month + 1);
  return new Date(next).toISOString();
}
