import type { CallSettled, MessageData, MessageType, Principal, StartRun, WrittenBudgets } from '#contracts';
import type { Call } from '../src/domain/call-state.ts';
import type { Run } from '../src/domain/run-state.ts';
import { step } from '../src/domain/saga.table.ts';
import type {
  ContractShelf,
  Dropped,
  Emission,
  Input,
  InputOf,
  InputType,
  SettlementSource,
} from '../src/domain/saga.types.ts';
import { alice, settledData, SHELF, startData } from './fixtures.ts';

export const RUN_ID = 'run_01hzzzzzzz0000000000000000';

/** One run and everything that it has said; time passes only when told. */
export class Scene {
  run: Run | null = null;
  now = Date.parse('2026-01-01T00:00:00.000Z');
  readonly said: Emission[] = [];
  readonly dropped: Dropped[] = [];
  readonly #contracts: ContractShelf;

  constructor(contracts: ContractShelf = SHELF) {
    this.#contracts = contracts;
  }

  give(input: Input): Emission[] {
    const next = step(this.run, input, { now: this.now, contracts: this.#contracts });
    this.run = next.run;
    this.said.push(...next.out);
    if (next.dropped) this.dropped.push(next.dropped);
    return [...next.out];
  }

  say<T extends InputType>(
    type: T,
    data: InputOf<T> extends { data: infer D } ? D : undefined,
    own: object = {},
  ): Emission[] {
    return this.give({ type, runId: RUN_ID, tenant: 'dev', data, ...own } as unknown as Input);
  }

  start(driver: StartRun['driver'], own: Partial<StartRun> = {}): Emission[] {
    return this.say('StartRun', startData(driver, own));
  }

  /** A turn of the model that proposes these: `[tool, arguments]`. */
  turn(turn: number, ...proposals: readonly [tool: string, args: unknown][]): Emission[] {
    return this.say('TurnCompleted', {
      turn,
      proposals: proposals.map(([tool, args], i) => ({
        tool,
        arguments: typeof args === 'string' ? args : JSON.stringify(args),
        providerCallId: `p${turn}-${i}`,
      })),
      text: null,
      responseId: null,
      usage: { inputTokens: 10, outputTokens: 5 },
    });
  }

  answer(turn: number, text: string | null): Emission[] {
    return this.say('TurnCompleted', {
      turn,
      proposals: [],
      text,
      responseId: null,
      usage: { inputTokens: 1, outputTokens: 1 },
    });
  }

  settle(
    callId: string,
    data: Partial<CallSettled> & { sources?: string[]; model?: string } = {},
    from: SettlementSource = { kind: 'pool', pool: 'default' },
  ): Emission[] {
    return this.say('CallSettled', settledData(data), { callId, from });
  }

  wake(atMs: number): Emission[] {
    this.now = atMs;
    return this.say('Woken', undefined);
  }

  propose(commandId: string, callIds: readonly string[], tool: string, args: unknown): Emission[] {
    const proposals = callIds.map((callId) => ({ callId, tool, arguments: JSON.stringify(args) }));
    return this.say('ProposeCalls', {
      commandId,
      principal: alice,
      requestDigest: `sha256:${'2'.repeat(64)}`,
      proposals,
    });
  }

  cancel(reason?: string, principal: Principal = alice): Emission[] {
    return this.say('CancelRun', { commandId: 'cancel-1', principal, ...(reason === undefined ? {} : { reason }) });
  }

  resume(budgets: WrittenBudgets, commandId = 'resume-1', principal: Principal = alice): Emission[] {
    return this.say('ResumeRun', { commandId, principal, budgets });
  }

  call(callId: string): Call {
    return this.run!.state.calls.find((call) => call.callId === callId)!;
  }

  /** What was said of one type. */
  all<T extends MessageType>(type: T): (Emission<T> & { data: MessageData<T> })[] {
    return this.said.filter((emission) => emission.type === type) as never;
  }
}

export const types = (emissions: readonly Emission[]): string[] => emissions.map((emission) => emission.type);
export const callIds = (emissions: readonly Emission[]): (string | undefined)[] =>
  emissions.map((emission) => emission.callId);
