import { setTimeout as pause } from 'node:timers/promises';
import { InfrastructureError, type Clock } from '#kernel';
import { errorFields, RepeatedLook, type Log, type Worker } from '#runtime';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import type { LapsedCall } from '../adapters/sweep-calls.query.ts';
import { abandonedEnding } from '../domain/cancellation.ts';
import { storedCall, type GrantedCall, type PreparedCall } from '../domain/prepared-call.ts';
import { returnGrant } from '../domain/replies.ts';
import { unknownEnding } from '../domain/settlement.ts';
import type { CallDesk } from './call-desk.ts';
import type { GateAnswer, GrantGate } from './grant-gate.ts';
import type { Lease, LeaseKeeper } from './lease-keeper.ts';
import type { OutcomeWriter } from './outcome-writer.ts';

/** Calls that one look takes over at most: what a dead executor had in work is spread over the living ones. */
const LIMIT = 64;
/** Owners of one call beyond what its contract allows as attempts; a call that kills its executors must end. */
const EXTRA_OWNERS = 4;
const AWAY_MS = 500;

export interface SweeperOptions {
  readonly journal: JournalRepository;
  readonly gate: GrantGate;
  readonly desk: CallDesk;
  readonly leases: LeaseKeeper;
  readonly writer: OutcomeWriter;
  readonly clock: Clock;
  readonly log: Log;
  readonly pool: string;
  /** Milliseconds between looks. */
  readonly everyMs: number;
}

/** Takes up what dead executors left, at once after the start and then at intervals (J12). */
export class Sweeper implements Worker {
  readonly #options: SweeperOptions;
  readonly #looks: RepeatedLook;

  constructor(options: SweeperOptions) {
    this.#options = options;
    const { everyMs, log } = options;
    this.#looks = new RepeatedLook({
      everyMs,
      atOnce: true,
      log,
      failed: 'the sweep failed',
      look: () => this.#sweep(),
    });
  }

  start(): void {
    this.#looks.start();
  }

  /** One look at a time. */
  sweep(): Promise<void> {
    return this.#looks.now();
  }

  drain(): Promise<void> {
    return this.#looks.drain();
  }

  async #sweep(): Promise<void> {
    const { journal, pool, log, leases } = this.#options;
    const takenAt = performance.now();
    const lapsed = await journal.sweep(pool, LIMIT);
    await Promise.all(
      lapsed.map(async (row) => {
        const call = storedCall(row.message, row.leaseMs);
        const lease = leases.keep(call.callId, row.epoch, row.leaseMs, takenAt);
        log.info({ callId: call.callId, state: row.state, epoch: row.epoch }, 'took over a call whose lease had ended');
        try {
          await this.#takeUp(row, call, lease);
        } catch (error) {
          leases.drop(lease);
          log.warn({ ...errorFields(error), callId: call.callId }, 'a call could not be taken up; another look will');
        }
      }),
    );
  }

  async #takeUp(row: LapsedCall, call: GrantedCall, lease: Lease): Promise<void> {
    const { desk, gate, journal, leases, clock, pool } = this.#options;
    if (row.stopAsked && row.mode === 'act') return this.#abandoned(row, call, lease);
    const mustEnd = row.repeat === 'none' && call.claims.effectClass !== 'read';
    if (row.state === 'intended' && row.mode === 'act' && mustEnd)
      return this.#unknown(row, await this.#withContract(call), lease);

    const answer = await this.#ask(() =>
      row.state === 'queued' ? gate.check(call.granted) : gate.prepare(call.granted, call.claims),
    );
    if (answer.kind !== 'open') {
      if (row.state === 'intended') return this.#unknown(row, call, lease);
      const reason = answer.kind === 'returned' ? answer.reason : 'GRANT_INVALID';
      await journal.returnQueued(lease, returnGrant(call.granted, reason, pool, clock.now()));
      return leases.drop(lease);
    }
    const since = performance.now() - (row.waitedMs ?? 0);
    const held = {
      call: answer.call,
      lease,
      lock: null,
      needsLock: row.state === 'queued' && answer.call.holds.length > 0,
      since,
    };
    if (row.state === 'queued') return desk.wait(held);
    if (row.mode !== 'act') return desk.answer(held, row.mode, row.settlement);
    const tooMany = row.attempts > answer.call.contract.retry.attempts + EXTRA_OWNERS;
    if (tooMany || (answer.call.write && row.repeat === 'none')) return this.#unknown(row, answer.call, lease);
    desk.act(held, row, row.attempts - 1);
  }

  /** Maybe sent, and not safe to repeat: said so, at once (G5, G9). */
  async #unknown(row: LapsedCall, call: GrantedCall | PreparedCall, lease: Lease): Promise<void> {
    const looking = 'contract' in call && call.contract.reconcile !== undefined;
    const ending = unknownEnding(Math.max(1, row.attempts - 1), 0, looking);
    await this.#options.writer.write(call, lease, ending, row.mode === 'act');
    this.#options.leases.drop(lease);
  }

  /** It was to stop: whoever takes it up lets it be (K4). */
  async #abandoned(row: LapsedCall, call: GrantedCall, lease: Lease): Promise<void> {
    const ending = abandonedEnding(call.claims.effectClass !== 'read', Math.max(1, row.attempts - 1));
    await this.#options.writer.write(call, lease, ending, true);
    this.#options.leases.drop(lease);
  }

  /** For what the contract says of unknown outcomes; without the registry the call ends all the same. */
  async #withContract(call: GrantedCall): Promise<GrantedCall | PreparedCall> {
    const answer = await this.#options.gate.prepare(call.granted, call.claims).catch(() => null);
    return answer?.kind === 'open' ? answer.call : call;
  }

  async #ask(ask: () => Promise<GateAnswer>): Promise<GateAnswer> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof InfrastructureError) || this.#looks.stopped) throw error;
        await pause(AWAY_MS); // policy or the registry is away; the lease is renewed meanwhile
      }
    }
  }
}
