import { toolContractSchema, toolKey, type CallSettled, type StartRun, type ToolContractInput } from '#contracts';
import { callIdOf } from '#kernel';
import { compileInput, contractDigest } from '#registry';
import type { ContractShelf } from '../src/domain/saga.types.ts';
import { step } from '../src/domain/saga.table.ts';
import type { Emission } from '../src/domain/saga.types.ts';
import { failedData, SHELF, settledData, startData } from './fixtures.ts';
import { RUN_ID, Scene } from './scene.ts';

const common = {
  namespace: 'shop',
  version: '1.0.0',
  layer: 'write',
  title: 'A tool',
  description: 'A tool of the tests',
  whenToUse: 'In tests',
  whenNotToUse: 'Elsewhere',
  sideEffects: 'reversible',
  output: { type: 'object' },
  timeoutMs: 1_000,
  execution: { kind: 'local', pool: 'default' },
} as const satisfies Partial<ToolContractInput>;

const object = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
});

const tools = [
  {
    name: 'book',
    input: object('seat'),
    resources: ['seat:{seat}'],
    compensation: {
      tool: 'shop.unbook',
      arguments: { seat: { argument: '/seat' }, booking: { result: '/id' }, why: { value: 'undo' } },
    },
  },
  { name: 'unbook', input: object('seat', 'booking', 'why'), resources: ['seat:{seat}'] },
  { name: 'send', input: object('seat'), resources: ['seat:{seat}'], compensation: { pivot: true } },
  { name: 'note', input: object('seat'), resources: ['seat:{seat}'] },
  {
    name: 'lost',
    input: object('seat'),
    resources: ['seat:{seat}'],
    compensation: { tool: 'shop.nowhere', arguments: {} },
  },
].map((own) => toolContractSchema.parse({ ...common, ...own } as ToolContractInput));

const refs = tools.map((contract) => ({ tool: toolKey(contract), digest: contractDigest(contract) }));
const shelf: ContractShelf = new Map([
  ...SHELF,
  ...tools.map((contract) => {
    const validator = compileInput(contract);
    return [contractDigest(contract), { contract, validate: (args: unknown) => validator.validate(args) }] as const;
  }),
]);

/** A run of the client whose tools can be undone. */
export class UndoScene extends Scene {
  #batch = 0;
  readonly #ids: string[] = [];

  override give(input: Parameters<Scene['give']>[0]): Emission[] {
    const next = step(this.run, input, { now: this.now, contracts: shelf });
    this.run = next.run;
    this.said.push(...next.out);
    if (next.dropped) this.dropped.push(next.dropped);
    return [...next.out];
  }

  begin(own: Partial<StartRun> = {}): this {
    this.say('StartRun', {
      ...startData('client', own),
      toolset: refs.filter(({ tool }) => !tool.includes('unbook')),
      undoTools: refs.filter(({ tool }) => tool.includes('unbook')),
    });
    return this;
  }

  /** One write, which settles as said; `sNN` is its seat. @returns its callId */
  write(tool: string, seat: string, settled: Partial<CallSettled> | null = this.booked(seat)): string {
    const callId = callIdOf(RUN_ID, ['w', String(++this.#batch)]);
    this.propose(`cmd-${this.#batch}`, [callId], `shop.${tool}`, { seat });
    this.#ids.push(callId);
    if (settled) this.settle(callId, settled);
    return callId;
  }

  booked(id: string): Partial<CallSettled> {
    const { result } = settledData();
    const evidence = { resourceIds: [id], sources: [] };
    return { effect: 'applied', result: { ...result!, sanitized: { id: `b-${id}` }, evidence } };
  }

  finish(): void {
    this.say('FinishRun', { commandId: 'cmd-f', principal: this.run!.definition.principal });
  }

  /** Undos that are out: undone callId → the undo's callId. */
  undos(): Map<string, string> {
    const { calls } = this.run!.state;
    return new Map(
      calls.flatMap((call) => (call.state !== 'settled' && call.undoes ? [[call.undoes, call.callId] as const] : [])),
    );
  }

  /** The undo of this call comes to its end. */
  undone(callId: string, data: Partial<CallSettled> = { effect: 'applied' }): void {
    this.settle(this.undos().get(callId)!, data);
  }

  undoFails(callId: string, status: 'failed' | 'outcome_unknown' = 'failed'): void {
    this.undone(callId, failedData(status));
  }

  compensate(commandId = 'comp-1', own: object = {}): Emission[] {
    const { principal } = this.run!.definition;
    return this.say('CompensateRun', { commandId, principal, decision: 'compensate', calls: [], ...own });
  }
}
