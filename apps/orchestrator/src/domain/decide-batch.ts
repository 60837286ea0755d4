import type { Run } from './run-state.ts';
import { step } from './saga.table.ts';
import { ContractsMissing, type Dropped, type Emission, type Env, type Input } from './saga.types.ts';

export interface Decided {
  /** Every run that was touched, as it is now. */
  readonly after: ReadonlyMap<string, Run>;
  readonly started: readonly Run[];
  readonly changed: readonly Run[];
  readonly out: readonly Emission[];
  readonly dropped: readonly Dropped[];
}

/**
 * Folds a batch into the runs, in order.
 * @throws ContractsMissing with all contracts that any of the decisions lacks
 */
export function decideBatch(before: ReadonlyMap<string, Run>, inputs: readonly Input[], env: Env): Decided {
  const after = new Map(before);
  const out: Emission[] = [];
  const dropped: Dropped[] = [];
  const missing = new Set<string>();
  for (const input of inputs) {
    try {
      const next = step(after.get(input.runId) ?? null, input, env);
      if (next.run) after.set(input.runId, next.run);
      out.push(...next.out);
      if (next.dropped) dropped.push(next.dropped);
    } catch (error) {
      if (!(error instanceof ContractsMissing)) throw error;
      error.digests.forEach((digest) => missing.add(digest));
    }
  }
  if (missing.size > 0) throw new ContractsMissing([...missing]);
  const runs = [...after.values()];
  return {
    after,
    started: runs.filter((run) => !before.has(run.definition.runId)),
    changed: runs.filter((run) => before.has(run.definition.runId) && before.get(run.definition.runId) !== run),
    out,
    dropped,
  };
}
