import type { CallSettled } from '#contracts';
import { nextStep } from '../../../apps/executor/src/domain/next-step.ts';
import type { RunOutcome } from '../../../apps/executor/src/domain/tool-runner.port.ts';
import { executorError } from '../../../apps/executor/src/domain/settlement.ts';
import { settledData } from '../../../apps/orchestrator/testing/fixtures.ts';
import { contractOf } from './sim-tools.ts';
import type { Bus, Grant } from './ring.types.ts';
import type { SinkModel } from './sink.model.ts';

const LEASE_MS = 15_000;
const LOCK_WAIT_MS = 30_000;
const EXTRA_OWNERS = 4;
const NOBODY = 0;
const DIGESTS = { policyDigest: `sha256:${'3'.repeat(64)}`, contractDigest: `sha256:${'4'.repeat(64)}` };

interface Row {
  readonly grant: Grant;
  state: 'queued' | 'intended' | 'returned' | 'settled';
  epoch: number;
  /** The executor that holds the lease; it renews it as long as it lives and is not stopped. */
  owner: number;
  leaseUntil: number;
  attempts: number;
  queuedAt: number;
  settlement: CallSettled | null;
}

/** One attempt under way in one executor: where it stands is lost with its process. */
export interface Task {
  readonly callId: string;
  readonly owner: number;
  readonly epoch: number;
  /** `checked`: past its last look at the lease; nothing holds it back any more. */
  stage: 'ready' | 'checked';
  made: number;
  readonly firstMade: number;
  maybeBefore: boolean;
}

export interface Executor {
  readonly id: number;
  stopped: boolean;
}

/**
 * The journal's promises as one table in memory (J1–J12 of apps/executor), and executors that lose everything but it.
 * What may follow an attempt is the executor's own `nextStep`.
 */
export class JournalModel {
  readonly rows = new Map<string, Row>();
  readonly tasks: Task[] = [];
  executors: Executor[] = [
    { id: 1, stopped: false },
    { id: 2, stopped: false },
  ];
  readonly #operations = new Map<
    string,
    { state: 'running' | 'succeeded' | 'unknown' | 'closed'; callId: string; args: string }
  >();
  readonly #holders = new Map<string, string>();
  readonly #bus: Bus;
  readonly #sink: SinkModel;
  readonly #toPolicy: (grant: Grant, reason: 'GRANT_EXPIRED' | 'LOCK_WAIT') => void;
  #nextId = 3;

  constructor(bus: Bus, sink: SinkModel, toPolicy: JournalModel['giveBack']) {
    this.#bus = bus;
    this.#sink = sink;
    this.#toPolicy = toPolicy;
  }

  get giveBack(): (grant: Grant, reason: 'GRANT_EXPIRED' | 'LOCK_WAIT') => void {
    return this.#toPolicy;
  }

  granted(grant: Grant, now: number, pick: number): void {
    const row = this.rows.get(grant.callId);
    if (row?.settlement) return this.#tell(grant.callId, row.settlement);
    if (row && row.state !== 'returned') return;
    if (row && grant.decisionNo <= row.grant.decisionNo) return this.#toPolicy(grant, 'GRANT_EXPIRED');
    if (now >= grant.expiresAtMs) return this.#toPolicy(grant, 'GRANT_EXPIRED');
    const owner = this.executors[pick % this.executors.length]!;
    const fresh: Row = {
      grant,
      state: 'queued',
      epoch: 1,
      owner: owner.id,
      leaseUntil: now + LEASE_MS,
      attempts: 0,
      queuedAt: now,
      settlement: null,
    };
    this.rows.set(grant.callId, fresh);
    this.#intend(fresh, now);
  }

  /** The commit of the intent: operation and hold together, or neither. */
  #intend(row: Row, now: number): void {
    const { call, callId } = row.grant;
    const contract = contractOf(call.contractDigest);
    if (call.effectClass === 'read') return this.#begin(row, now, false);
    const name = `${call.tool}\0${call.operationKey}`;
    const operation = this.#operations.get(name);
    if (operation && operation.callId !== callId && operation.state !== 'closed') {
      if (operation.state === 'running') return;
      if (operation.args !== call.argumentsDigest)
        return this.#settle(row, 'failed', 'none', { error: executorError('IDEMPOTENCY_CONFLICT'), attempts: 0 });
      if (operation.state === 'unknown')
        return this.#settle(row, 'outcome_unknown', 'unknown', { replayed: true, attempts: 0, error: UNKNOWN });
      return this.#settle(row, 'succeeded', 'applied', { replayed: true, attempts: 0 });
    }
    const holds = contract.concurrency === 'per_resource' ? call.resources : [];
    if (holds.some((hold) => (this.#holders.get(hold) ?? callId) !== callId)) return;
    for (const hold of holds) this.#holders.set(hold, callId);
    this.#operations.set(name, { state: 'running', callId, args: call.argumentsDigest });
    this.#begin(row, now, false);
  }

  #begin(row: Row, now: number, again: boolean): void {
    row.state = 'intended';
    row.attempts++;
    row.leaseUntil = now + LEASE_MS;
    this.tasks.push({
      callId: row.grant.callId,
      owner: row.owner,
      epoch: row.epoch,
      stage: 'ready',
      made: row.attempts,
      firstMade: row.attempts,
      maybeBefore: again,
    });
  }

  /** One step of a task: the look at the lease, or the request and what follows from its fate. */
  step(task: Task, now: number, fate: number): void {
    const row = this.rows.get(task.callId)!;
    const drop = (): void => void this.tasks.splice(this.tasks.indexOf(task), 1);
    if (task.stage === 'ready') {
      if (row.epoch !== task.epoch || row.state !== 'intended') return drop();
      if (now >= row.leaseUntil) {
        row.owner = NOBODY; // dropped: its lease is renewed no more
        return drop();
      }
      task.stage = 'checked';
      return;
    }
    const { call } = row.grant;
    const contract = contractOf(call.contractDigest);
    const outcome = this.#sink.request(call, task.callId, fate);
    if (row.epoch !== task.epoch || row.state !== 'intended') return drop();
    const step = nextStep(outcome, {
      write: call.effectClass !== 'read',
      repeat: contract.idempotency.mode as 'natural' | 'key' | 'none',
      made: task.made,
      allowed: Math.max(contract.retry.attempts, task.firstMade),
      maybeBefore: task.maybeBefore,
    });
    if (step.kind === 'repeat') {
      task.made++;
      task.maybeBefore = step.maybe;
      task.stage = 'ready';
      return;
    }
    drop();
    const attempts = task.made;
    if (step.kind === 'unknown') return this.#settle(row, 'outcome_unknown', 'unknown', { attempts, error: UNKNOWN });
    if (step.kind === 'failed') return this.#settle(row, 'failed', 'none', { attempts, error: errorOf(outcome) });
    this.#settle(row, 'succeeded', call.effectClass === 'read' ? 'none' : 'applied', { attempts });
  }

  #settle(row: Row, status: CallSettled['status'], effect: CallSettled['effect'], more: Partial<CallSettled>): void {
    if (row.settlement) return;
    row.state = 'settled';
    const { callId, call } = row.grant;
    const succeeded = status === 'succeeded';
    row.settlement = {
      ...settledData({ status, effect, error: null, attempts: row.attempts, ...DIGESTS, ...more }),
      ...(succeeded ? {} : { result: null }),
    };
    const operation = this.#operations.get(`${call.tool}\0${call.operationKey}`);
    if (operation?.callId === callId)
      operation.state = succeeded ? 'succeeded' : status === 'failed' ? 'closed' : 'unknown';
    if (status !== 'outcome_unknown')
      for (const [hold, holder] of this.#holders) if (holder === callId) this.#holders.delete(hold);
    this.#tell(callId, row.settlement);
  }

  /** Living owners renew, what dead ones left is taken over (J12), who waits looks again. */
  sweep(now: number): void {
    const living = this.executors.filter(({ stopped }) => !stopped);
    for (const row of this.rows.values()) {
      if (row.state !== 'intended') continue;
      if (living.some(({ id }) => id === row.owner)) row.leaseUntil = Math.max(row.leaseUntil, now + LEASE_MS);
      else if (now >= row.leaseUntil && living[0]) this.#takeOver(row, living[0], now);
    }
    for (const row of this.rows.values()) {
      if (row.state !== 'queued') continue;
      this.#intend(row, now);
      if (row.state !== 'queued') continue;
      if (now - row.queuedAt >= LOCK_WAIT_MS)
        this.#settle(row, 'failed', 'none', { attempts: 0, error: executorError('BUSY') });
      else if (now >= row.grant.expiresAtMs) {
        row.state = 'returned';
        this.#toPolicy(row.grant, 'LOCK_WAIT');
      }
    }
  }

  #takeOver(row: Row, by: Executor, now: number): void {
    const { call } = row.grant;
    const contract = contractOf(call.contractDigest);
    row.epoch++;
    row.owner = by.id;
    const write = call.effectClass !== 'read';
    const tooMany = row.attempts + 1 > contract.retry.attempts + EXTRA_OWNERS;
    if (write && (contract.idempotency.mode === 'none' || tooMany))
      return this.#settle(row, 'outcome_unknown', 'unknown', { error: UNKNOWN });
    this.#begin(row, now, true);
  }

  /** kill -9: what the process had in hand is gone; another takes its place. */
  kill(index: number): void {
    const dead = this.executors[index % this.executors.length]!;
    this.executors = this.executors.map((one) => (one === dead ? { id: this.#nextId++, stopped: false } : one));
    for (let n = this.tasks.length - 1; n >= 0; n--) if (this.tasks[n]!.owner === dead.id) this.tasks.splice(n, 1);
  }

  /** Tasks of processes that run. */
  runnable(): Task[] {
    const stopped = new Set(this.executors.filter((one) => one.stopped).map(({ id }) => id));
    return this.tasks.filter(({ owner }) => !stopped.has(owner));
  }

  /** When something changes without a message. */
  nextTimer(now: number): number {
    let next = Infinity;
    for (const row of this.rows.values()) {
      if (row.state === 'queued') next = Math.min(next, row.queuedAt + LOCK_WAIT_MS, row.grant.expiresAtMs);
      if (
        row.state === 'intended' &&
        !this.tasks.some(({ callId, epoch }) => callId === row.grant.callId && epoch === row.epoch)
      )
        next = Math.min(next, row.leaseUntil);
      if (row.state === 'intended' && this.executors.some(({ id, stopped }) => id === row.owner && stopped))
        next = Math.min(next, row.leaseUntil);
    }
    return Math.max(next, now);
  }

  #tell(callId: string, data: CallSettled): void {
    this.#bus.send({
      to: 'orchestrator',
      tell: { type: 'CallSettled', callId, data, from: { kind: 'pool', pool: 'default' } },
    });
  }
}

const UNKNOWN = executorError('OUTCOME_UNKNOWN');
const errorOf = (outcome: RunOutcome): CallSettled['error'] => (outcome.kind === 'failed' ? outcome.error : null);
