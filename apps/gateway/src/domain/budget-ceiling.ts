import { writtenBudgetsSchema, type Budgets, type LimitName, type WrittenBudgets } from '#contracts';
import { CountersignError, parseJson } from '#kernel';

/**
 * What the installation lets any run use at most.
 * B1 who asks for more is refused, with the limits by name; B2 what nobody asked for (defaults, an agent's own) is clipped.
 */
export type BudgetCeiling = WrittenBudgets;

/** @throws CountersignError INVALID_ARGS */
export function refuseAbove(ceiling: BudgetCeiling, written: WrittenBudgets | undefined): void {
  const above = limitsOf(written ?? {}).filter((name) => isAbove(written![name], ceiling[name]));
  if (above.length === 0) return;
  const told = above.map((name) => `${name} ${written![name]} (at most ${ceiling[name]})`).join(', ');
  throw new CountersignError('INVALID_ARGS', `More than this installation lets a run use: ${told}`, {
    details: above.map((name) => ({ path: `/budgets/${name}`, rule: 'ceiling', allowed: [ceiling[name]] })),
  });
}

export function clipTo(ceiling: BudgetCeiling, budgets: Budgets): Budgets {
  const clipped = limitsOf(ceiling).filter((name) => isAbove(budgets[name], ceiling[name]));
  if (clipped.length === 0) return budgets;
  return { ...budgets, ...Object.fromEntries(clipped.map((name) => [name, ceiling[name]])) };
}

/** A permission counts as a limit that is raised by giving it. */
const isAbove = (value: number | boolean | undefined, most: number | boolean | undefined): boolean =>
  value !== undefined && most !== undefined && Number(value) > Number(most);

const limitsOf = (written: WrittenBudgets): LimitName[] =>
  (Object.keys(written) as LimitName[]).filter((name) => written[name] !== undefined);

/** @returns the ceiling, or what is wrong with the text */
export function readCeiling(text: string): BudgetCeiling | { readonly faults: readonly string[] } {
  let given: unknown;
  try {
    given = parseJson(text);
  } catch {
    return { faults: ['expected strict JSON: {"maxCalls":100,"maxCostUsd":5}'] };
  }
  const parsed = writtenBudgetsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  return { faults: parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`) };
}
