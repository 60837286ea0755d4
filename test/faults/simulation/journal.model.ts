import type { CallSettled } from '#contracts';
import { afterProbe } from '../../../apps/executor/src/domain/after-probe.ts';
import { nextStep } from '../../../apps/executor/src/domain/next-step.ts';
import type { RunOutcome } from '../../../apps/executor/src/domain/tool-runner.port.ts';
import { executorError } from '../../../apps/executor/src/domain/settlement.ts';
import { reconciledData, settledData } from '../../../apps/orchestrator/testing/fixtures.ts';
import type { Executor, Row, Task } from './journal.types.ts';
import { contractOf } from './sim-tools.ts';
import type { Bus, Grant } from './ring.types.ts';
import type { SinkModel } from './sink.model.ts';

const LEASE_MS = 15_000;
const LOCK_WAIT_MS = 30_000;
const LOOK_MS = 30_000;
const EXTRA_OWNERS = 4;
const NOBODY = 0;
const POOL = { kind: 'pool', pool: 'default' } as const;
const DIGESTS = { policyDigest: `sha256:${'3'.repeat(64)}`, contractDigest: `sha256:${'4'.repeat(64)}` };

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
      lookAt: Infinity,
      found: null,
    };
    this.rows.set(grant.callId, fresh);
    this.#intend(fresh, now);
  }

  /** The commit of the intent: operation and hold together, or neither. */
  #intend(row: Row, now: number): void {
    const { call, callId } = row.grant;
    const contract = contractOf(call.contractDigest);
    if (call.effectClass === 'read') return this.#begin(row, now, false);
    const name = nameOf(call);
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
    // What an earlier owner may have sent must not be sent again before the probe has said that it never arrives.
    const asksFirst = again && contractOf(row.grant.call.contractDigest).reconcile !== undefined;
    this.tasks.push({
      callId: row.grant.callId,
      owner: row.owner,
      epoch: row.epoch,
      stage: asksFirst ? 'asking' : 'ready',
      made: asksFirst ? row.attempts - 1 : row.attempts,
      firstMade: row.attempts,
      maybeBefore: again,
    });
  }

  /** One step of a task: the look at the lease, or the request and what follows from its fate. */
  step(task: Task, now: number, fate: number): void {
    const row = this.rows.get(task.callId)!;
    const drop = (): void => void this.tasks.splice(this.tasks.indexOf(task), 1);
    if (task.stage === 'asking') return this.#ask(row, task, fate, drop);
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
    if (step.kind === 'unknown' && contract.reconcile) {
      task.stage = 'asking';
      return;
    }
    drop();
    const attempts = task.made;
    if (step.kind === 'unknown') return this.#settle(row, 'outcome_unknown', 'unknown', { attempts, error: UNKNOWN });
    if (step.kind === 'failed') return this.#settle(row, 'failed', 'none', { attempts, error: errorOf(outcome) });
    this.#settle(row, 'succeeded', call.effectClass === 'read' ? 'none' : 'applied', { attempts });
  }

  /** A look at what an attempt did; what follows from it is the executor's own `afterProbe`. */
  #ask(row: Row, task: Task, fate: number, drop: () => void): void {
    const { call } = row.grant;
    const contract = contractOf(call.contractDigest);
    if (row.epoch !== task.epoch || row.state !== 'intended') return drop();
    const { final } = contract.reconcile!;
    const allowed = Math.max(contract.retry.attempts, task.firstMade);
    const after = afterProbe(this.#sink.probe(call, fate), { final, made: task.made, allowed });
    const attempts = task.made;
    if (after === 'again') {
      task.made++;
      task.maybeBefore = false;
      task.stage = 'ready';
      return;
    }
    drop();
    if (after === 'unknown') return this.#settle(row, 'outcome_unknown', 'unknown', { attempts, error: UNKNOWN });
    if (after === 'applied') return this.#settle(row, 'succeeded', 'applied', { attempts });
    this.#settle(row, 'failed', 'none', { attempts, error: executorError('TIMEOUT') });
  }

  /** Goes on looking for what became of an unknown outcome: one conditional update, told once it stands (U2). */
  reconcile(now: number, fate: number): void {
    for (const row of this.rows.values()) {
      if (now < row.lookAt) continue;
      const found = this.#sink.probe(row.grant.call, fate);
      if (found === 'cannot_tell') {
        row.lookAt = fate === 1 ? now + LOOK_MS : Infinity; // after a while it is left to a person
        continue;
      }
      row.lookAt = Infinity;
      const [status, effect] =
        found === 'applied' ? (['succeeded', 'applied'] as const) : (['failed', 'none'] as const);
      row.found = { status, effect };
      this.#end(row, status);
      const error = found === 'applied' ? null : executorError('TIMEOUT');
      const data = reconciledData({ status, effect, error });
      const tell = { type: 'CallReconciled' as const, callId: row.grant.callId, data, from: POOL };
      this.#bus.send({ to: 'orchestrator', sure: true, tell });
    }
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
    this.#end(row, status);
    const owns = this.#operations.get(nameOf(call))?.callId === callId;
    if (status === 'outcome_unknown' && owns && contractOf(call.contractDigest).reconcile)
      row.lookAt = row.leaseUntil + LOOK_MS;
    this.#tell(callId, row.settlement);
  }

  #end({ grant: { call, callId } }: Row, status: CallSettled['status']): void {
    const operation = this.#operations.get(nameOf(call));
    if (operation?.callId === callId)
      operation.state = status === 'succeeded' ? 'succeeded' : status === 'failed' ? 'closed' : 'unknown';
    if (status !== 'outcome_unknown')
      for (const [hold, holder] of this.#holders) if (holder === callId) this.#holders.delete(hold);
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
    if (write && ((contract.idempotency.mode === 'none' && !contract.reconcile) || tooMany))
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
      next = Math.min(next, row.lookAt);
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
      tell: { type: 'CallSettled', callId, data, from: POOL },
    });
  }
}

const nameOf = ({ tool, operationKey }: Grant['call']): string => `${tool}\0${operationKey}`;
const UNKNOWN = executorError('OUTCOME_UNKNOWN');
const errorOf = (outcome: RunOutcome): CallSettled['error'] => (outcome.kind === 'failed' ? outcome.error : null);
