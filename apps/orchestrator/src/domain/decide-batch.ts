import type { Run } from './run-state.ts';
import { step } from './saga.table.ts';
import { BatchUse } from './batch-use.ts';
import { SliceShort, type Charge } from './tenant-use.ts';
import { ContractsMissing, type Dropped, type Emission, type Env, type Input } from './saga.types.ts';

export interface Decided {
  /** Every run that was touched, as it is now. */
  readonly after: ReadonlyMap<string, Run>;
  readonly started: readonly Run[];
  readonly changed: readonly Run[];
  readonly out: readonly Emission[];
  readonly dropped: readonly Dropped[];
  readonly charges: readonly Charge[];
}

/**
 * Folds a batch into the runs, in order.
 * @throws ContractsMissing with all contracts that any of the decisions lacks, SliceShort with all slices
 */
export function decideBatch(before: ReadonlyMap<string, Run>, inputs: readonly Input[], env: Env): Decided {
  const after = new Map(before);
  const out: Emission[] = [];
  const dropped: Dropped[] = [];
  const missing = new Set<string>();
  const use = new BatchUse(env.tenants);
  for (const input of inputs) {
    try {
      const run = after.get(input.runId) ?? null;
      const next = step(run, input, use.envOf(run, env));
      if (next.run) {
        use.add(run, next.run);
        after.set(input.runId, next.run);
      }
      out.push(...next.out);
      if (next.dropped) dropped.push(next.dropped);
    } catch (error) {
      if (error instanceof SliceShort) use.lack(error.needs);
      else if (error instanceof ContractsMissing) error.digests.forEach((digest) => missing.add(digest));
      else throw error;
    }
  }
  if (missing.size > 0) throw new ContractsMissing([...missing]);
  const charges = use.settle();
  const runs = [...after.values()];
  return {
    after,
    started: runs.filter((run) => !before.has(run.definition.runId)),
    changed: runs.filter((run) => before.has(run.definition.runId) && before.get(run.definition.runId) !== run),
    out,
    dropped,
    charges,
  };
}
