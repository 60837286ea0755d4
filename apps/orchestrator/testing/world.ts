import type { CallSettled, StartRun } from '#contracts';
import { callIdOf } from '#kernel';
import type { ControlType, Emission } from '../src/domain/saga.types.ts';
import { budgetsOf, episodeOf, isEnded, isResumable } from '../src/domain/run-state.ts';
import { deadlineOf, wakeAt } from '../src/domain/timers.ts';
import { nextInputTokens } from '../src/domain/usage.ts';
import { alice, approvalData, decisionData, editedData, failedData, settledData, startData } from './fixtures.ts';
import { RUN_ID, Scene } from './scene.ts';

const PROPOSALS: readonly (readonly [tool: string, args: string])[] = [
  ['ops.read_alerts', '{"service":"a"}'],
  ['ops__list_regions', ''],
  ['ops.set_flag', '{"name":"a"}'],
  ['ops__set_flag@1.0.0', '{"name":"b","on":false}'],
  ['ops.team_note', '{"text":"x"}'],
  ['ops.set_flag', '{"name":1}'],
  ['ops.none', '{}'],
  ['ops.list_regions', '{"a":'],
];

/**
 * Model, client, policy and executors that do as the choices say; what they send is kept in a bag, in no order. A provider
 * keeps to what a request allows it. Somebody may cancel, and somebody raises limits that have ended the run.
 */
export class World {
  readonly scene = new Scene();
  readonly bag: (() => void)[] = [];
  readonly #choices: number[];
  readonly #answered = new Set<string>();

  constructor(choices: readonly number[], driver: StartRun['driver'], budgets: StartRun['budgets']) {
    this.#choices = [...choices];
    const proposals =
      driver === 'call' ? [{ callId: callIdOf(RUN_ID, 1), tool: 'ops.set_flag', arguments: '{"name":"a"}' }] : [];
    const data = startData(driver, { budgets, proposals });
    this.#act(this.scene.say('StartRun', data));
    this.#send(() => this.scene.say('StartRun', data));
    if (driver === 'client') this.#client();
    if (this.choose(6) === 5) this.#send(() => this.scene.cancel('enough'));
    if (this.choose(6) === 4) this.#people();
  }

  /** Raises every limit of a run that one of them has ended. False: it stays ended. */
  resume(): boolean {
    const run = this.scene.run!;
    const episode = episodeOf(run);
    if (!isResumable(run) || episode > 3 || this.choose(3) === 0) return false;
    const raised = Object.entries(budgetsOf(run)).map(([name, value]) => [name, Number(value) * 2] as const);
    const { allowUnknownCost: _, ...limits } = Object.fromEntries(raised);
    const give = () => this.scene.resume(limits, `resume-${episode}`);
    this.#act(give());
    this.#send(give);
    return !isEnded(this.scene.run!);
  }

  choose(below: number): number {
    return (this.#choices.shift() ?? 0) % below;
  }

  /** Delivers one message of the bag, twice now and then; or lets time pass to the next timer. */
  next(): void {
    const run = this.scene.run!;
    // Days of a forgotten hand pass at once, without the drives of each minute.
    const wake = run.state.control && this.bag.length === 0 ? deadlineOf(run) : wakeAt(run);
    if (this.bag.length === 0 || (this.choose(8) === 7 && wake !== null)) {
      if (wake !== null) this.#act(this.scene.wake(Math.max(wake, this.scene.now)));
      return;
    }
    const index = this.choose(this.bag.length);
    const deliver = this.bag[index]!;
    if (this.choose(4) !== 3) this.bag.splice(index, 1);
    deliver();
  }

  #send(give: () => Emission[]): void {
    this.bag.push(() => this.#act(give()));
  }

  #act(emissions: readonly Emission[]): void {
    for (const emission of emissions) {
      // Lost on the way: the next drive sends it again.
      if (this.choose(6) === 5) continue;
      if (emission.type === 'CallProposed') this.#onProposed(emission as Emission<'CallProposed'>);
      if (emission.type === 'RequestTurn') this.#onRequest(emission as Emission<'RequestTurn'>);
    }
  }

  /** Somebody pauses the run, takes it over, proposes calls in it and hands it back: in any order, or forgets to. */
  #people(): void {
    const person = { ...alice, id: 'user:olga', roles: ['operator'] };
    const order = (type: ControlType) => {
      const data = { commandId: `${type}-${this.bag.length}`, principal: person, reason: 'so' };
      this.#send(() => this.scene.say(type, data));
    };
    if (this.choose(2) === 1) order('PauseRun');
    order('TakeOverRun');
    const proposals = this.#proposals().map(([tool, args], i) => ({
      tool,
      arguments: args,
      callId: callIdOf(RUN_ID, ['olga', String(i)]),
    }));
    const data = { commandId: 'cmd-olga', principal: person, requestDigest: `sha256:${'a'.repeat(64)}`, proposals };
    this.#send(() => this.scene.say('ProposeCalls', data));
    if (this.choose(4) > 0) order('HandBackRun');
  }

  #client(): void {
    const batches = this.choose(4);
    for (let n = 0; n < batches; n++) {
      const proposals = this.#proposals().map(([tool, args], i) => ({
        tool,
        arguments: args,
        callId: callIdOf(RUN_ID, [String(n), String(i)]),
        ...this.#dependsOn(n, i),
      }));
      const data = {
        commandId: `cmd-${n}`,
        principal: alice,
        requestDigest: `sha256:${String(n).repeat(64)}`,
        proposals,
      };
      this.#send(() => this.scene.say('ProposeCalls', data));
    }
    if (this.choose(3) > 0) this.#send(() => this.scene.say('FinishRun', { commandId: 'cmd-f', principal: alice }));
  }

  /** Of this request or the one before it, which may not be there; sometimes in a circle. */
  #dependsOn(n: number, i: number): { dependsOn?: string[] } {
    if (this.choose(3) !== 2) return {};
    const names = Array.from({ length: this.choose(3) }, () =>
      callIdOf(RUN_ID, [String(n - this.choose(2)), String((i + 4 - this.choose(2)) % 5)]),
    );
    return { dependsOn: names };
  }

  #proposals(): (readonly [string, string])[] {
    return Array.from({ length: 1 + this.choose(5) }, () => PROPOSALS[this.choose(PROPOSALS.length)]!);
  }

  #onRequest({ data: { turn, limits } }: Emission<'RequestTurn'>): void {
    if (!this.#first(`turn-${turn}`)) return;
    const { maxOutputTokens, maxCostUsd } = limits!;
    const inputTokens = nextInputTokens(this.scene.run!);
    const choice = this.choose(8);
    const proposals =
      choice < 5 ? this.#proposals().map(([tool, args], i) => [tool, args, `p${turn}-${i}`] as const) : [];
    if (choice === 6 && maxCostUsd !== null)
      return this.#send(() =>
        this.scene.say('TurnFailed', { turn, code: 'BUDGET_EXHAUSTED', message: 'dear', limit: 'maxCostUsd' }),
      );
    if (choice === 7)
      return this.#send(() => this.scene.say('TurnFailed', { turn, code: 'MODEL_UNAVAILABLE', message: 'away' }));
    this.#send(() =>
      this.scene.say('TurnCompleted', {
        turn,
        text: proposals.length > 0 ? null : 'done',
        responseId: null,
        usage: {
          inputTokens,
          outputTokens: Math.min(this.choose(50), maxOutputTokens),
          costUsd: maxCostUsd === null ? null : (maxCostUsd * this.choose(11)) / 10,
        },
        proposals: proposals.map(([tool, args, providerCallId]) => ({ tool, arguments: args, providerCallId })),
      }),
    );
  }

  #onProposed({ callId, data: { pool } }: Emission<'CallProposed'>): void {
    if (!this.#first(callId!)) return;
    const about = { callId };
    const settle = (data: CallSettled, by: 'policy' | 'pool' = 'pool') =>
      this.#send(() =>
        this.scene.say('CallSettled', data, {
          ...about,
          from: by === 'policy' ? { kind: 'policy' } : { kind: 'pool', pool },
        }),
      );
    const asked = this.choose(3) === 2;
    if (asked) {
      this.#send(() => this.scene.say('ApprovalRequested', approvalData(`appr-${callId}`), about));
      if (this.choose(2) === 1)
        this.#send(() => this.scene.say('ApprovalDecided', decisionData(`appr-${callId}`), about));
    }
    if (asked && this.choose(5) === 4) return this.#edit(callId!, settle);
    switch (this.choose(6)) {
      case 0:
        return settle(
          { ...failedData(asked ? 'expired' : 'denied', 'PERMISSION_DENIED'), settledBy: 'policy' },
          'policy',
        );
      case 1:
        return settle(failedData('failed'));
      case 2:
        return settle(failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
      case 3:
        // A silent pool, unless a person was asked: policy always ends what it asked.
        return asked
          ? settle({ ...failedData('expired', 'PERMISSION_DENIED'), settledBy: 'policy' }, 'policy')
          : undefined;
      default:
        return settle(settledData({ sources: [`s-${callId}`] }));
    }
  }

  /** A person writes other arguments: two facts of policy, in either order. */
  #edit(callId: string, settle: (data: CallSettled, by: 'policy') => void): void {
    const edited = editedData(callId, { name: 'c', on: this.choose(2) === 1 });
    this.#send(() => this.scene.say('ApprovalEdited', edited, { callId }));
    const denied = failedData('denied', 'APPROVAL_DENIED');
    const error = { ...denied.error!, replacedBy: edited.replacedBy };
    settle({ ...denied, error, settledBy: 'policy' }, 'policy');
  }

  #first(key: string): boolean {
    if (this.#answered.has(key)) return false;
    this.#answered.add(key);
    return true;
  }
}
