import { fillBudgets, type CallProposed, type StartRun, type ToolContract } from '#contracts';
import { callIdOf } from '#kernel';
import { alice, startData } from '../../../apps/orchestrator/testing/fixtures.ts';
import { isEnded, type Run } from '../../../apps/orchestrator/src/domain/run-state.ts';
import { step } from '../../../apps/orchestrator/src/domain/saga.table.ts';
import type { Emission, Input } from '../../../apps/orchestrator/src/domain/saga.types.ts';
import { wakeAt } from '../../../apps/orchestrator/src/domain/timers.ts';
import { nextInputTokens } from '../../../apps/orchestrator/src/domain/usage.ts';
import { JournalModel } from './journal.model.ts';
import { PolicyModel } from './policy.model.ts';
import type { Bus, Parcel } from './ring.types.ts';
import { CONTRACTS, SHELF, TOOLSET } from './sim-tools.ts';
import { SinkModel } from './sink.model.ts';

const RUN_ID = 'run_01hzzzzzzz0000000000000000';
const ITEMS = ['a', 'b', 'refused'] as const;
/** Of the choices: a message is lost, or comes twice; an executor dies, stops, goes on. */
const RARE = 9;

/**
 * The ring of one run: the orchestrator's saga, policy's decisions and the journal's promises, joined by a bus that loses,
 * repeats and reorders, with executors that die and stop at any step. Each step is one commit; what a commit tells is on
 * its way afterwards. All that is left to chance is read from `choices`; when they are used up, nothing fails any more.
 */
export class Ring implements Bus {
  readonly said: Emission[] = [];
  readonly sink = new SinkModel();
  readonly journal: JournalModel;
  readonly policy: PolicyModel;
  run: Run | null = null;
  now = Date.parse('2026-01-01T00:00:00.000Z');
  readonly #choices: number[];
  #bag: Parcel[] = [];
  #model: (() => void)[] = [];
  readonly #asked = new Set<string>();

  constructor(choices: readonly number[], driver: StartRun['driver']) {
    this.#choices = [...choices];
    this.policy = new PolicyModel(this, {
      verdictOf: (callId) => this.#verdictOf(callId),
      person: (id) => this.#person(id),
      // a short one runs out on its way, or while its call waits for a resource
      grantMs: () => (this.choose(3) === 2 ? 5_000 : 60_000),
    });
    this.journal = new JournalModel(this, this.sink, ({ callId, decisionNo }, reason) =>
      this.send({ to: 'policy', run: () => this.policy.returned(callId, { decisionNo, reason }, this.now) }),
    );
    const proposals = driver === 'call' ? [{ callId: callIdOf(RUN_ID, 1), ...this.#proposal() }] : [];
    const data = startData(driver, { budgets: fillBudgets(), toolset: TOOLSET, taskId: 'task', proposals });
    this.#give({ type: 'StartRun', data });
    if (driver === 'client') this.#client();
    if (this.choose(5) === 4)
      this.#later(() => this.#give({ type: 'CancelRun', data: { commandId: 'cancel', principal: alice } }));
  }

  choose(below: number): number {
    return (this.#choices.shift() ?? 0) % below;
  }

  send(parcel: Parcel): void {
    const sure = parcel.to === 'orchestrator' && parcel.sure === true;
    if (this.choose(RARE) === RARE - 1 && !sure) return; // lost: whoever is owed it asks again
    this.#bag.push(parcel);
    if (this.choose(RARE) === RARE - 1) this.#bag.push(parcel);
  }

  get ended(): boolean {
    return this.run !== null && isEnded(this.run);
  }

  /** Nothing is under way any more. */
  get quiet(): boolean {
    const open = [...this.journal.rows.values()].some(({ state }) => state === 'queued' || state === 'intended');
    return this.ended && !open && this.#bag.length + this.#model.length + this.journal.tasks.length === 0;
  }

  /** One step of anything: a message, an attempt, a fault, or time. */
  next(): void {
    if (this.choose(RARE) === RARE - 1) this.#fault();
    const tasks = this.journal.runnable();
    const sources = [this.#bag.length, this.#model.length, tasks.length];
    const total = sources.reduce((sum, n) => sum + n, 0);
    if (total === 0 || this.choose(12) === 11) return this.#timePasses();
    let n = this.choose(total);
    if (n < this.#bag.length) return this.#deliver(this.#bag.splice(n, 1)[0]!);
    n -= this.#bag.length;
    if (n < this.#model.length) return this.#model.splice(n, 1)[0]!();
    this.journal.step(tasks[n - this.#model.length]!, this.now, this.choose(6));
    this.journal.sweep(this.now);
  }

  #deliver(parcel: Parcel): void {
    if (parcel.to === 'orchestrator') this.#give(parcel.tell as unknown as Partial<Input>);
    else if (parcel.to === 'executor') this.journal.granted(parcel.grant, this.now, this.choose(2));
    else parcel.run();
  }

  #fault(): void {
    const { executors } = this.journal;
    const one = executors[this.choose(executors.length)]!;
    const kind = this.choose(3);
    if (kind === 0) this.journal.kill(executors.indexOf(one));
    else one.stopped = kind === 1;
  }

  /** To the next timer of anybody. */
  #timePasses(): void {
    const wake = this.run === null || this.ended ? Infinity : (wakeAt(this.run) ?? Infinity);
    const next = Math.min(wake, this.policy.nextExpiry(), this.journal.nextTimer(this.now));
    if (next === Infinity || this.#choices.length === 0) for (const one of this.journal.executors) one.stopped = false; // who was stopped goes on in the end
    if (next !== Infinity) this.now = Math.max(this.now, next);
    this.policy.expire(this.now);
    this.journal.sweep(this.now);
    this.journal.reconcile(this.now, this.choose(6));
    if (wake <= this.now) this.#give({ type: 'Woken' });
  }

  #give(input: Partial<Input>): void {
    const whole = { runId: RUN_ID, tenant: 'dev', ...input } as Input;
    const { run, out } = step(this.run, whole, { now: this.now, contracts: SHELF });
    this.run = run;
    this.said.push(...out);
    for (const emission of out) this.#route(emission);
  }

  #route(emission: Emission): void {
    const { callId } = emission;
    if (emission.type === 'CallProposed')
      this.send({ to: 'policy', run: () => this.policy.proposed(callId!, emission.data as CallProposed, this.now) });
    if (emission.type === 'WithdrawCall') this.send({ to: 'policy', run: () => this.policy.withdraw(callId!) });
    if (emission.type === 'RequestTurn' && this.choose(RARE) !== RARE - 1)
      this.#turn((emission as Emission<'RequestTurn'>).data.turn);
  }

  #later(act: () => void): void {
    this.#model.push(act);
  }

  /** A turn's answer stands once; asked again, it is said again. */
  readonly #turns = new Map<number, Partial<Input>>();
  #turn(turn: number): void {
    let said = this.#turns.get(turn);
    if (!said) {
      const count = turn > 3 ? 0 : this.choose(4);
      const proposals = Array.from({ length: count }, (_, n) => ({
        ...this.#proposal(),
        providerCallId: `p${turn}-${n}`,
      }));
      const usage = { inputTokens: nextInputTokens(this.run!), outputTokens: 5, costUsd: 0 };
      const data = { turn, text: count > 0 ? null : 'done', responseId: null, usage, proposals };
      said = { type: 'TurnCompleted', data } as Partial<Input>;
      this.#turns.set(turn, said);
    }
    const answer = said;
    this.#later(() => this.#give(answer));
  }

  #client(): void {
    for (let n = this.choose(3); n >= 0; n--) {
      const proposals = Array.from({ length: 1 + this.choose(3) }, (_, i) => ({
        callId: callIdOf(RUN_ID, [String(n), String(i)]),
        ...this.#proposal(),
      }));
      const data = {
        commandId: `cmd-${n}`,
        principal: alice,
        requestDigest: `sha256:${String(n).repeat(64)}`,
        proposals,
      };
      this.#later(() => this.#give({ type: 'ProposeCalls', data }));
    }
    this.#later(() => this.#give({ type: 'FinishRun', data: { commandId: 'cmd-f', principal: alice } }));
  }

  #proposal(): { tool: string; arguments: string } {
    const { name, namespace } = CONTRACTS[this.choose(CONTRACTS.length)] as ToolContract;
    const note = ['', 'other'][this.choose(2)]!;
    return {
      tool: `${namespace}.${name}`,
      arguments: JSON.stringify({ item: ITEMS[this.choose(ITEMS.length)], note }),
    };
  }

  readonly #verdicts = new Map<string, 'allow' | 'ask' | 'deny'>();
  /** Policy, roles and context change now and then between two looks. */
  #verdictOf(callId: string): 'allow' | 'ask' | 'deny' {
    const changed = this.choose(RARE) === RARE - 1;
    const verdict = changed ? undefined : this.#verdicts.get(callId);
    const now = verdict ?? (['allow', 'allow', 'ask', 'deny'] as const)[this.choose(4)]!;
    this.#verdicts.set(callId, now);
    return now;
  }

  /** Somebody decides, twice now and then, or nobody does. */
  #person(approvalId: string): void {
    if (this.#asked.has(approvalId)) return;
    this.#asked.add(approvalId);
    const choice = this.choose(4);
    if (choice === 3) return;
    const decide = (): void => this.policy.decided(approvalId, choice === 2 ? 'rejected' : 'approved', this.now);
    this.send({ to: 'policy', run: decide });
    if (this.choose(3) === 2) this.send({ to: 'policy', run: decide });
  }
}
