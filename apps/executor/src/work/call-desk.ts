import type { LockHandle, LockPort } from '#locks';
import { errorFields, type Log, type Worker } from '#runtime';
import type { Clock } from '#kernel';
import type { IntentAnswer, IntentRequest, Taken } from '../adapters/intend-calls.query.ts';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import { cancelledEnding } from '../domain/cancellation.ts';
import { mayBeForgotten, type PreparedCall } from '../domain/prepared-call.ts';
import { returnGrant } from '../domain/replies.ts';
import {
  busyEnding,
  conflictEnding,
  joinEnding,
  replayEnding,
  type Ending,
  unknownEnding,
} from '../domain/settlement.ts';
import { createBatcher } from './batcher.ts';
import type { CallEngine } from './call-engine.ts';
import type { Lease, LeaseKeeper } from './lease-keeper.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import { StopSwitch } from './stop-switch.ts';
import { WakeUps } from './wake-ups.ts';

const POLL_FIRST_MS = 20;
const POLL_CAP_MS = 250;

export interface CallDeskOptions {
  readonly journal: JournalRepository;
  readonly leases: LeaseKeeper;
  readonly engine: CallEngine;
  readonly writer: OutcomeWriter;
  readonly locks: LockPort;
  readonly clock: Clock;
  readonly log: Log;
  readonly pool: string;
  readonly owner: string;
  /** Milliseconds that a write waits for resource and key. */
  readonly waitMs: number;
  /** Calls in work at once. */
  readonly parallel: number;
  /** Milliseconds that a tool may still answer after its call was cancelled. */
  readonly graceMs: number;
  /** Milliseconds for which `drain` waits for calls in work. */
  readonly drainMs: number;
}

/** A journaled call that this process holds. */
export interface Desk {
  readonly call: PreparedCall;
  readonly lease: Lease;
  lock: LockHandle | null;
  /** The place in the waiting room is still to be taken. */
  needsLock: boolean;
  /** performance.now() when the call began to wait. */
  readonly since: number;
}

interface Active {
  readonly stop: StopSwitch;
  readonly lease: Lease | null;
  done: Promise<void>;
}

/** The calls in work in this process: waits, runs, records, lets go. */
export class CallDesk implements Worker {
  readonly #options: CallDeskOptions;
  readonly #active = new Map<string, Active>();
  readonly #wakeUps = new WakeUps();
  readonly #draining = new AbortController();
  readonly #intend: (request: IntentRequest) => Promise<IntentAnswer>;
  #room: (() => void)[] = [];

  constructor(options: CallDeskOptions) {
    this.#options = options;
    this.#intend = createBatcher((requests) => options.journal.intend(requests), {
      inFlight: 1,
      crowd: 1,
      maxBatch: 64,
    });
  }

  start(): void {}

  has(callId: string): boolean {
    return this.#active.has(callId);
  }

  /** Resolves when another batch may be admitted. */
  async room(): Promise<void> {
    while (this.#active.size >= this.#options.parallel) await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  lockRequest(call: PreparedCall, waitMs: number, signal?: AbortSignal) {
    return {
      resources: call.holds.map((hold) => `${call.claims.tenant}/${hold}`),
      owner: `${call.callId}/${this.#options.owner}`,
      waitMs,
      ttlMs: call.leaseMs,
      ...(signal ? { signal } : {}),
    };
  }

  /** A read that needs no intent. */
  read(call: PreparedCall): void {
    this.#work(call.callId, null, async (stop) => {
      const ending = await this.#options.engine.run({ call, lease: null, taken: null, earlier: 0, stop });
      if (ending) await this.#options.writer.write(call, null, ending, false);
    });
  }

  /** The call was cancelled before its grant came: it is settled as such, never begun (K2). */
  cancelled(call: PreparedCall): void {
    this.#work(call.callId, null, () => this.#options.writer.write(call, null, cancelledEnding(), false));
  }

  /** It may have had its effect before the journal was restored (J14). */
  forgotten(call: PreparedCall): void {
    this.#work(call.callId, null, () => this.#options.writer.write(call, null, forgottenEnding(call), false));
  }

  /** Tells the tool of a call in work here to stop; any other call is left alone. */
  stop(callId: string): void {
    this.#active.get(callId)?.stop.ask(this.#options.graceMs);
  }

  /** The row of a waiting call is no longer ours. */
  abandon(callId: string): void {
    this.#active.get(callId)?.lease?.lose();
  }

  /** The intent is committed: act, once. `earlier` owners may have acted already. */
  act(desk: Desk, taken: Taken, earlier: number): void {
    this.#hold(desk, (stop) => this.#act(desk, taken, earlier, stop));
  }

  /** The key's record answers the call. */
  answer(desk: Desk, kind: 'replay' | 'join' | 'conflict', settlement: string | null): void {
    this.#hold(desk, () => this.#end(desk, endingOf(kind, settlement), false));
  }

  /** The call is a committed `queued` row of ours. */
  wait(desk: Desk): void {
    this.#hold(desk, (stop) => this.#wait(desk, stop));
  }

  async #act(desk: Desk, taken: Taken, earlier: number, stop: StopSwitch): Promise<void> {
    const ending = await this.#options.engine.run({ call: desk.call, lease: desk.lease, taken, earlier, stop });
    if (ending) await this.#end(desk, ending, true);
  }

  async #end(desk: Desk, ending: Ending, ownsOperation: boolean): Promise<void> {
    await this.#options.writer.write(desk.call, desk.lease, ending, ownsOperation);
  }

  async #wait(desk: Desk, stop: StopSwitch): Promise<void> {
    const { call, lease } = desk;
    const end = AbortSignal.any([lease.signal, this.#draining.signal]);
    for (let delay = POLL_FIRST_MS; ; delay = Math.min(delay * 2, POLL_CAP_MS)) {
      const left = this.#options.waitMs - (performance.now() - desk.since);
      if (desk.needsLock) {
        const answer = await this.#options.locks.acquire(this.lockRequest(call, Math.max(0, left), end));
        desk.needsLock = false;
        if (answer.kind === 'held') desk.lock = answer.handle;
        if (answer.kind === 'unavailable')
          this.#options.log.warn({ callId: call.callId }, 'lock server unavailable: going on with the holds alone');
        if (answer.kind === 'busy' && !end.aborted) return this.#end(desk, busyEnding(), false);
      } else if (left <= 0) return this.#end(desk, busyEnding(), false);
      else await this.#wakeUps.sleep(call, Math.min(left, delay * (0.5 + Math.random() / 2)), end);
      if (lease.signal.aborted) return;
      if (this.#draining.signal.aborted) return void (await this.#options.journal.giveUp([lease]));
      const takenAt = performance.now();
      const answer = await this.#intend({ call, action: 'intend', epoch: lease.epoch });
      if (answer.kind === 'wait') {
        lease.prolong(takenAt);
        continue;
      }
      return this.#afterWait(desk, answer, takenAt, stop);
    }
  }

  async #afterWait(desk: Desk, answer: IntentAnswer, takenAt: number, stop: StopSwitch): Promise<void> {
    const { call, lease } = desk;
    switch (answer.kind) {
      case 'intended':
        lease.prolong(takenAt);
        return this.#act(desk, answer, 0, stop);
      case 'replay':
      case 'join':
      case 'conflict':
        lease.prolong(takenAt);
        return this.#end(desk, endingOf(answer.kind, answer.settlement), false);
      case 'restored':
      case 'expired':
      case 'epoch': {
        if (answer.kind === 'restored' && mayBeForgotten(call)) return this.#end(desk, forgottenEnding(call), false);
        const reason = answer.kind === 'expired' ? 'LOCK_WAIT' : 'GRANT_INVALID';
        return this.#options.journal.returnQueued(
          lease,
          returnGrant(call.granted, reason, this.#options.pool, this.#options.clock.now()),
        );
      }
      default:
        this.#options.log.warn({ callId: call.callId, answer: answer.kind }, 'a waiting call is no longer ours');
    }
  }

  #hold(desk: Desk, work: (stop: StopSwitch) => Promise<void>): void {
    this.#work(desk.call.callId, desk.lease, async (stop) => {
      try {
        await work(stop);
      } finally {
        this.#options.leases.drop(desk.lease);
        this.#wakeUps.wake(desk.call);
        await desk.lock?.release();
      }
    });
  }

  /** Errors leave the row to the sweeper: its lease is renewed no more. */
  #work(callId: string, lease: Lease | null, work: (stop: StopSwitch) => Promise<void>): void {
    const stop = new StopSwitch();
    const active: Active = { stop, lease, done: Promise.resolve() };
    this.#active.set(callId, active);
    active.done = work(stop)
      .catch((error: unknown) =>
        this.#options.log.error(
          { ...errorFields(error), callId },
          'a call was dropped; it is taken up again after its lease',
        ),
      )
      .finally(() => {
        stop.close();
        this.#active.delete(callId);
        this.#room.splice(0).forEach((resolve) => resolve());
      });
  }

  /** Waiting calls are handed to whoever takes them; running ones are finished. */
  async drain(): Promise<void> {
    this.#draining.abort();
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.drainMs);
    });
    await Promise.race([over, Promise.all([...this.#active.values()].map(({ done }) => done))]);
    clearTimeout(timer);
  }
}

/** The contract's probe is asked what became of it, as of any unknown one. */
const forgottenEnding = ({ contract }: PreparedCall): Ending => unknownEnding(1, 0, contract.reconcile !== undefined);

function endingOf(kind: 'replay' | 'join' | 'conflict', settlement: string | null): Ending {
  if (kind === 'conflict') return conflictEnding();
  if (kind === 'join') return joinEnding();
  if (settlement === null) throw new Error('the record of a finished operation is missing');
  return replayEnding(settlement);
}
