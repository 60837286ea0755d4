import type { Incoming } from '#bus';
import type { OutgoingMessage } from '#contracts';
import type { GrantClaims } from '#grants';
import type { Clock } from '#kernel';
import type { LockHandle, LockPort } from '#locks';
import type { Log } from '#runtime';
import type { IntentAnswer, IntentRequest } from '../adapters/intend-calls.query.ts';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import type { Found } from '../adapters/look-up-calls.query.ts';
import { grantDigestOf, mayBeForgotten, type PreparedCall } from '../domain/prepared-call.ts';
import { refuseGrant, returnGrant, storedSettlement } from '../domain/replies.ts';
import type { CallDesk } from './call-desk.ts';
import type { GateAnswer, GrantGate } from './grant-gate.ts';
import type { LeaseKeeper } from './lease-keeper.ts';

export interface AdmissionOptions {
  readonly gate: GrantGate;
  readonly journal: JournalRepository;
  readonly desk: CallDesk;
  readonly leases: LeaseKeeper;
  readonly locks: LockPort;
  readonly clock: Clock;
  readonly log: Log;
  readonly pool: string;
}

type Granted = Incoming<'CallGranted'>['message'];
interface Checked {
  readonly granted: Granted;
  readonly answer: GateAnswer;
}
interface Write {
  readonly call: PreparedCall;
  readonly lock: LockHandle | null;
  readonly request: IntentRequest;
}

/**
 * The reducer of `call.granted.<pool>`: a batch is done when its intents, or its replies, are committed; tools run
 * afterwards, under a lease. One statement for all intents, one for all that only needs a look, one commit for replies.
 */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  async reduce(batch: readonly Incoming<'CallGranted'>[]): Promise<void> {
    let rest = batch.map((incoming) => incoming.message);
    while (rest.length > 0) {
      const { first, later } = onePerCall(rest);
      await this.#options.desk.room();
      await this.#admit(first);
      rest = later;
    }
  }

  async #admit(messages: readonly Granted[]): Promise<void> {
    const checked = await this.#withoutReplayed(
      await Promise.all(
        messages.map(async (granted): Promise<Checked> => ({
          granted,
          answer: await this.#options.gate.check(granted),
        })),
      ),
    );
    const writes: PreparedCall[] = [];
    const looks: Checked[] = [];
    for (const one of checked) {
      if (one.answer.kind !== 'open') looks.push(one);
      else if (this.#options.desk.has(one.answer.call.callId))
        continue; // in work here: its settlement comes
      else if (one.answer.call.journaled) writes.push(one.answer.call);
      else looks.push(one);
    }
    const replies = await Promise.all([this.#look(looks), this.#intend(writes)]);
    await this.#options.journal.reply(replies.flat());
  }

  /** J15: a person is asked first. One look, and only where there are undos. */
  async #withoutReplayed(checked: readonly Checked[]): Promise<readonly Checked[]> {
    const undone = ({ answer }: Checked): string | undefined =>
      answer.kind === 'open' && answer.call.claims.approvalId === undefined ? answer.call.claims.undoes : undefined;
    const asked = checked.map(undone).filter((callId) => callId !== undefined);
    if (asked.length === 0) return checked;
    const replayed = await this.#options.journal.findReplayed(asked);
    return checked.map((one) =>
      replayed.has(undone(one) ?? '') ? { ...one, answer: { kind: 'returned', reason: 'REPLAYED_ELSEWHERE' } } : one,
    );
  }

  /** Reads, and grants that cannot be used: what the journal holds already goes first. */
  async #look(checked: readonly Checked[]): Promise<OutgoingMessage[]> {
    if (checked.length === 0) return [];
    const found = await this.#options.journal.lookUp(
      checked.map(({ granted, answer }) => {
        const claims = claimsOf(answer);
        return { callId: granted.callId!, jti: claims?.jti ?? null, expiresAt: claims?.exp ?? null };
      }),
    );
    return checked.flatMap((one, index) => this.#afterLook(one, found[index]!));
  }

  #afterLook({ granted, answer }: Checked, found: Found): OutgoingMessage[] {
    const { pool, clock, desk } = this.#options;
    const callId = granted.callId!;
    const same = found.grantDigest === grantDigestOf(granted.data.grant);
    // A repeat is answered before any check of its grant: the grant's key may be gone by now.
    if (found.settlement !== null && (same || answer.kind !== 'refused'))
      return [storedSettlement(callId, found.settlement, pool)];
    const open = found.state === 'queued' || found.state === 'intended';
    if (open && (same || answer.kind !== 'refused')) return [];
    if (answer.kind === 'refused') {
      const spent = found.usedBy !== null && found.usedBy !== callId;
      const text = spent ? 'The grant was already used for another call' : answer.message;
      return [refuseGrant(granted, spent ? 'GRANT_SPENT' : 'GRANT_INVALID', text, pool, clock.now())];
    }
    if (answer.kind === 'returned') return [returnGrant(granted, answer.reason, pool, clock.now())];
    if (found.state === 'cancelled') {
      desk.cancelled(answer.call);
      return [];
    }
    if (found.expired) return [returnGrant(granted, 'GRANT_EXPIRED', pool, clock.now())];
    if (!desk.has(callId)) desk.read(answer.call);
    return [];
  }

  async #intend(calls: readonly PreparedCall[]): Promise<OutgoingMessage[]> {
    if (calls.length === 0) return [];
    const writes = await Promise.all(calls.map((call) => this.#enter(call)));
    const takenAt = performance.now();
    let answers: IntentAnswer[];
    try {
      answers = await this.#options.journal.intend(writes.map((write) => write.request));
    } catch (error) {
      await Promise.all(writes.map((write) => write.lock?.release() ?? Promise.resolve()));
      throw error;
    }
    return writes.flatMap((write, index) => this.#dispatch(write, answers[index]!, takenAt));
  }

  /** The waiting room, only for what is serialized: free → straight to the intent, taken → admitted as `queued`. */
  async #enter(call: PreparedCall): Promise<Write> {
    const request = (action: IntentRequest['action']): IntentRequest => ({ call, action, epoch: 0 });
    if (call.holds.length === 0) return { call, lock: null, request: request('intend') };
    const answer = await this.#options.locks.acquire(this.#options.desk.lockRequest(call, 0));
    if (answer.kind === 'busy') return { call, lock: null, request: request('queue') };
    if (answer.kind === 'held') return { call, lock: answer.handle, request: request('intend') };
    this.#options.log.warn({ callId: call.callId }, 'lock server unavailable: going on with the holds alone');
    return { call, lock: null, request: request('intend') };
  }

  #dispatch({ call, lock }: Write, answer: IntentAnswer, takenAt: number): OutgoingMessage[] {
    const { desk, leases } = this.#options;
    const held = (needsLock = false) => ({
      call,
      lease: leases.keep(call.callId, answer.epoch, call.leaseMs, takenAt),
      lock,
      needsLock,
      since: takenAt,
    });
    switch (answer.kind) {
      case 'intended':
        desk.act(held(), answer, 0);
        return [];
      case 'replay':
      case 'join':
      case 'conflict':
        desk.answer(held(), answer.kind, answer.settlement);
        return [];
      case 'queued':
      case 'wait':
        desk.wait(held(answer.kind === 'queued'));
        return [];
      case 'cancelled':
        desk.cancelled(call);
        void lock?.release();
        return [];
      case 'restored':
        void lock?.release();
        if (!mayBeForgotten(call)) return this.#reply(call, 'epoch', null);
        desk.forgotten(call);
        return [];
      case 'stored':
      case 'expired':
      case 'epoch':
      case 'spent':
      case 'running': // its owner, or the sweeper after its lease, settles it
      case 'lost':
        void lock?.release();
        return this.#reply(call, answer.kind, answer.settlement);
    }
  }

  #reply(
    call: PreparedCall,
    kind: 'stored' | 'expired' | 'epoch' | 'spent' | 'running' | 'lost',
    settlement: string | null,
  ): OutgoingMessage[] {
    const { pool } = this.#options;
    const now = this.#options.clock.now();
    if (kind === 'running' || kind === 'lost') return [];
    if (kind === 'stored') return settlement === null ? [] : [storedSettlement(call.callId, settlement, pool)];
    if (kind === 'spent') {
      const text = 'The grant or its approval was already used for another call';
      return [refuseGrant(call.granted, 'GRANT_SPENT', text, pool, now)];
    }
    return [returnGrant(call.granted, kind === 'expired' ? 'GRANT_EXPIRED' : 'GRANT_INVALID', pool, now)];
  }
}

const claimsOf = (answer: GateAnswer): GrantClaims | null =>
  answer.kind === 'open' ? answer.call.claims : answer.kind === 'refused' ? answer.claims : null;

/** Repeats of the same grant are dropped; other grants of the same call wait for their turn. */
function onePerCall(messages: readonly Granted[]): { first: Granted[]; later: Granted[] } {
  const seen = new Map<string, string>();
  const later: Granted[] = [];
  const first = messages.filter((granted) => {
    const known = seen.get(granted.callId!);
    if (known === undefined) seen.set(granted.callId!, granted.data.grant);
    else if (known !== granted.data.grant) later.push(granted);
    return known === undefined;
  });
  return { first, later };
}
