import { setTimeout as wait } from 'node:timers/promises';
import { partitionKey, TOPICS, type OutgoingMessage } from '#contracts';
import { InfrastructureError } from '#kernel';
import { errorFields, type ServiceContext, type Worker } from '#runtime';
import { claimTurns, type ClaimedTurn } from '../adapters/claim-turns.query.ts';
import { finishTurn } from '../adapters/finish-turn.query.ts';
import { releaseTurns, renewTurns } from '../adapters/hold-turns.query.ts';
import { appendItems } from '../adapters/transcript.repository.ts';
import { failedTurn } from '../domain/turn-response.ts';
import { runTurn, type TurnDependencies, type WorkedTurn } from './run-turn.ts';

/**
 * Works on the turns that were admitted.
 *
 * Owns: the leases of its process. Called by: the handler (`kick`), its own timers.
 * T1  A turn is worked on under a lease judged by the database's clock, renewed while the work lasts.
 * T2  Each write of the owner carries its epoch; zero rows changed means "no longer mine": stop and drop.
 * T3  Items, answer and outgoing message are one commit; nothing is published before it.
 * T4  A turn whose owner died is taken up by any process once its lease has ended.
 */
export interface TurnWorkerOptions extends TurnDependencies {
  readonly context: Pick<ServiceContext, 'database' | 'outbox' | 'log' | 'instance' | 'clock'>;
  /** Turns at once. */
  readonly concurrency: number;
}

const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
const SWEEP_MS = 1_000;
/** Pause before work that the machinery stopped is taken up again. */
const HELD_BACK_MS = 1_000;

interface InWork {
  readonly claimed: ClaimedTurn;
  readonly stop: AbortController;
  done: Promise<void>;
}

export class TurnWorker implements Worker {
  readonly #options: TurnWorkerOptions;
  readonly #inWork = new Map<string, InWork>();
  #timers: NodeJS.Timeout[] = [];
  #open = false;
  #claiming: Promise<void> | null = null;
  #again = false;

  constructor(options: TurnWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#open = true;
    this.#timers = [setInterval(() => this.kick(), SWEEP_MS), setInterval(() => void this.#renew(), RENEW_MS)];
    this.kick();
  }

  /** Looks for work now. */
  kick(): void {
    this.#again = true;
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
      if (this.#again && this.#open) this.kick(); // asked for between the last look and here
    });
  }

  async #claim(): Promise<void> {
    const { database, log, instance } = this.#options.context;
    try {
      while (this.#again && this.#open) {
        this.#again = false;
        const free = this.#options.concurrency - this.#inWork.size;
        if (free <= 0) return;
        for (const claimed of await claimTurns(database, instance, LEASE_MS, free)) this.#begin(claimed);
      }
    } catch (error) {
      log.warn(errorFields(error), 'turns-not-claimed');
    }
  }

  #begin(claimed: ClaimedTurn): void {
    const key = `${claimed.runId}/${claimed.turn}/${claimed.epoch}`;
    const work: InWork = { claimed, stop: new AbortController(), done: Promise.resolve() };
    this.#inWork.set(key, work);
    work.done = this.#work(work).finally(() => {
      this.#inWork.delete(key);
      this.kick(); // a slot is free
    });
  }

  async #work({ claimed, stop }: InWork): Promise<void> {
    const { clock, log } = this.#options.context;
    const fields = { runId: claimed.runId, turn: claimed.turn };
    const startedAt = clock.now();
    try {
      const worked = await runTurn(claimed, this.#options, stop.signal).catch((error: unknown) =>
        this.#mishap(claimed, error, stop.signal),
      );
      const kept = await this.#commit(claimed, worked, stop.signal);
      const { type, data } = worked.response.message;
      const code = type === 'TurnFailed' ? (data as { code: string }).code : undefined;
      log.info(
        {
          ...fields,
          state: worked.response.state,
          code,
          attempts: worked.attempts,
          kept,
          durationMs: clock.now() - startedAt,
        },
        'turn-worked',
      );
    } catch (error) {
      if (stop.signal.aborted) return; // given back, or no longer ours
      log.warn({ ...fields, ...errorFields(error) }, 'turn-held-back');
      await releaseTurns(this.#options.context.database, [claimed], HELD_BACK_MS).catch(() => undefined);
    }
  }

  /** A fault of ours ends the turn, so that the run can end too; an absent part of the machinery holds it back. */
  #mishap(claimed: ClaimedTurn, error: unknown, signal: AbortSignal): WorkedTurn | Promise<never> {
    if (signal.aborted || error instanceof InfrastructureError) return Promise.reject(error as Error);
    const { clock, log } = this.#options.context;
    log.error({ runId: claimed.runId, turn: claimed.turn, ...errorFields(error) }, 'turn-mishap');
    const { tenant } = JSON.parse(claimed.request.toString()) as { tenant: string };
    const message = `A fault of ours; look for ${claimed.runId} turn ${claimed.turn} in the logs of the model-adapter`;
    const response = failedTurn(
      { tenant, runId: claimed.runId, now: clock.now() },
      { turn: claimed.turn, code: 'INTERNAL', message },
    );
    return { response, before: 0, items: [], offered: null, attempts: 0 };
  }

  /** Repeats the commit while the database is away: what the provider answered is not asked for twice without need. */
  async #commit(claimed: ClaimedTurn, worked: WorkedTurn, signal: AbortSignal): Promise<boolean> {
    const { database, outbox } = this.#options.context;
    const { state, bytes } = worked.response;
    for (;;) {
      signal.throwIfAborted();
      try {
        const staged = await database.transaction(async (tx) => {
          if (!(await finishTurn(tx, { ...claimed, state, response: bytes, offered: worked.offered }))) return null;
          await appendItems(tx, claimed.runId, claimed.turn, worked.before, worked.items);
          return outbox.append(tx, [turnResponse(claimed.runId, bytes)]);
        });
        if (staged) outbox.emit(staged);
        return staged !== null;
      } catch (error) {
        if (!(error instanceof InfrastructureError)) throw error;
        await wait(HELD_BACK_MS, undefined, { signal });
      }
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#inWork.values()];
    if (held.length === 0) return;
    try {
      const kept = await renewTurns(
        this.#options.context.database,
        held.map((work) => work.claimed),
        LEASE_MS,
      );
      const keys = new Set(kept.map((turn) => `${turn.runId}/${turn.turn}`));
      for (const { claimed, stop } of held) {
        if (!keys.has(`${claimed.runId}/${claimed.turn}`)) stop.abort(new Error('the lease is lost'));
      }
    } catch (error) {
      this.#options.context.log.warn(errorFields(error), 'leases-not-renewed');
    }
  }

  /** Gives unfinished turns back at once: a provider may think for minutes, and nobody waits for that. */
  async drain(): Promise<void> {
    this.#open = false;
    this.#timers.forEach((timer) => clearInterval(timer));
    this.#timers = [];
    await this.#claiming;
    const held = [...this.#inWork.values()];
    held.forEach((work) => work.stop.abort(new Error('the process stops')));
    await Promise.allSettled(held.map((work) => work.done));
    const left = held.map((work) => work.claimed);
    if (left.length > 0) await releaseTurns(this.#options.context.database, left, 0).catch(() => undefined);
  }
}

/** Stored bytes, addressed. */
export const turnResponse = (runId: string, value: Buffer): OutgoingMessage => ({
  topic: TOPICS.modelResponses,
  key: runId,
  partitionKey: partitionKey(runId),
  value,
});
