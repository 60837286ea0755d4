import type { Incoming } from '#bus';
import { InfrastructureError, type Clock } from '#kernel';
import { isUniqueViolation, type Database, type Outbox, type Staged, type Tx } from '#persistence';
import { errorFields, type Log } from '#runtime';
import { claimDueRuns } from './adapters/claim-due-runs.query.ts';
import type { Shelf } from './adapters/contract.shelf.ts';
import { encodeEmission } from './adapters/encode-emission.ts';
import { insertRuns } from './adapters/insert-runs.query.ts';
import { loadRuns } from './adapters/load-runs.query.ts';
import { numberRuns } from './adapters/number-runs.query.ts';
import type { TenantSlices } from './adapters/tenant-slices.ts';
import { isSliceLost } from './adapters/use-tenant-budget.query.ts';
import { updateRuns } from './adapters/update-runs.query.ts';
import { decideBatch, type Decided } from './domain/decide-batch.ts';
import type { Run } from './domain/run-state.ts';
import { SliceShort, sumCharges, type Charge } from './domain/tenant-use.ts';
import { ContractsMissing, type Dropped, type Env } from './domain/saga.types.ts';
import { inputOf, type OrchestratorMessage } from './orchestrator.inputs.ts';

/**
 * Loads, asks the saga, saves, emits: one transaction for a batch, one statement for a table.
 *
 * D1 a run's row is locked while it is decided; new rows are inserted under their id, and the first commit wins.
 * D2 what a decision lacks (a contract, a slice of a tenant's budget, a row that another reducer has just inserted) is
 *    fetched outside the transaction, and the whole batch is decided again.
 * D3 messages are rows of the same commit; they are published after it.
 */
export interface ReducerParts {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly shelf: Shelf;
  readonly slices: TenantSlices;
  /** By the list as it is known. */
  readonly suspensions: { readonly suspended: ReadonlySet<string> };
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_ROUNDS = 10;
const WAKE_LIMIT = 100;

export class RunReducer {
  readonly #parts: ReducerParts;
  /** Messages that changed nothing, by reason, since the start. */
  readonly dropped: Record<Dropped, number> = { unknown_run: 0, unknown_call: 0, foreign: 0, late: 0 };

  constructor(parts: ReducerParts) {
    this.#parts = parts;
  }

  async reduce(batch: readonly Incoming<OrchestratorMessage>[]): Promise<void> {
    const inputs = batch.map(inputOf);
    const fresh = new Set<string>();
    const known = new Set<string>();
    for (const { type, runId } of inputs) {
      if (type === 'StartRun' && !known.has(runId)) fresh.add(runId);
      else if (!fresh.has(runId)) known.add(runId);
    }
    await this.#rounds(async (tx, { raced, ...env }) => {
      // A start is nearly always of a new run: it is looked up only after its insert met another one.
      const runs = await loadRuns(tx, raced ? [...fresh, ...known] : [...known]);
      return this.#save(tx, decideBatch(runs, inputs, { now: this.#parts.clock.now(), ...env }));
    });
  }

  /** Handles runs whose timer is due; answers whether there may be more. */
  async wake(): Promise<boolean> {
    let count = 0;
    await this.#rounds(async (tx, { contracts, tenants, suspended }) => {
      const { runs, now } = await claimDueRuns(tx, WAKE_LIMIT);
      count = runs.length;
      const woken = runs.flatMap((run) => this.#decideWoken(run, { now, contracts, tenants, suspended }));
      return count === 0 ? null : this.#save(tx, merge(woken));
    });
    return count === WAKE_LIMIT;
  }

  /** Alone: one run that cannot be decided must not stop the timers of the others. */
  #decideWoken(run: Run, env: Env): Decided[] {
    const { runId, tenant } = run.definition;
    try {
      const decided = decideBatch(new Map([[runId, run]]), [{ type: 'Woken', runId, tenant }], env);
      return [{ ...decided, changed: [...decided.after.values()] }];
    } catch (error) {
      if (error instanceof ContractsMissing || error instanceof SliceShort) throw error;
      this.#parts.log.error({ runId, ...errorFields(error) }, 'the timer of a run cannot be handled');
      return [];
    }
  }

  async #rounds(work: (tx: Tx, known: Known) => Promise<Saved | null>): Promise<void> {
    const { database, outbox, shelf, slices, suspensions } = this.#parts;
    let contracts = shelf.readable;
    let raced = false;
    const missing = new Set<string>();
    const exhausted = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      try {
        const known = { contracts, raced, tenants: slices.room(exhausted), suspended: suspensions.suspended };
        const saved = await database.transaction((tx) => work(tx, known));
        if (!saved) return;
        slices.used(saved.charges);
        outbox.emit(saved.staged);
        return this.#count(saved.dropped);
      } catch (error) {
        if (isUniqueViolation(error))
          raced = true; // another reducer inserted a run between our look and our insert
        else if (error instanceof ContractsMissing) {
          error.digests.forEach((digest) => missing.add(digest));
          contracts = await shelf.with([...missing]);
        } else if (error instanceof SliceShort) {
          for (const meter of await slices.lease(error.needs)) exhausted.add(meter);
        } else {
          // Taken over, or nobody knows whether the commit came through: they are looked up again.
          slices.forget();
          if (!isSliceLost(error)) throw error;
        }
      }
    }
    throw new InfrastructureError('the batch could not be decided: other reducers were always faster');
  }

  async #save(tx: Tx, decided: Changes): Promise<Saved> {
    const started = await numbered(tx, decided.started);
    const numbers = new Map(started.map((run) => [run.definition.runId, run.runNo]));
    const messages = decided.out.map((emission) => {
      const runNo = emission.type === 'RunStarted' ? numbers.get(emission.runId) : undefined;
      return encodeEmission(runNo == null ? emission : { ...emission, data: { ...emission.data, runNo } });
    });
    const { charges, dropped } = decided;
    const staged = await tx.last(async () => {
      const using = this.#parts.slices.use(tx, charges);
      const saving = Promise.all([
        insertRuns(tx, started),
        updateRuns(tx, decided.changed),
        this.#parts.outbox.append(tx, messages),
      ]);
      // The one that fails first fails the others: its error tells why.
      saving.catch(() => undefined);
      await using;
      return (await saving)[2];
    });
    return { staged, dropped, charges };
  }

  #count(dropped: readonly Dropped[]): void {
    const foreign = dropped.filter((reason) => reason === 'foreign').length;
    for (const reason of dropped) this.dropped[reason]++;
    if (foreign > 0)
      this.#parts.log.warn({ count: foreign }, 'facts from others than the holder of the call were dropped');
  }
}

/** Gives each new run the next number of its tenant. */
async function numbered(tx: Tx, started: readonly Run[]): Promise<Run[]> {
  if (started.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { definition } of started) counts.set(definition.tenant, (counts.get(definition.tenant) ?? 0) + 1);
  const next = await numberRuns(tx, counts);
  return started.map((run) => {
    const runNo = next.get(run.definition.tenant)!;
    next.set(run.definition.tenant, runNo + 1);
    return { ...run, runNo };
  });
}

const merge = (parts: readonly Decided[]): Changes => ({
  started: [],
  changed: parts.flatMap((part) => part.changed),
  out: parts.flatMap((part) => part.out),
  dropped: parts.flatMap((part) => part.dropped),
  charges: sumCharges(parts.flatMap((part) => part.charges)),
});

type Changes = Omit<Decided, 'after'>;

interface Known extends Pick<Env, 'contracts' | 'tenants' | 'suspended'> {
  readonly raced: boolean;
}

interface Saved {
  readonly charges: readonly Charge[];
  readonly staged: Staged;
  readonly dropped: readonly Dropped[];
}
