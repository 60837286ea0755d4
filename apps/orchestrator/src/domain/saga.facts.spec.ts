import { toolContractSchema, toolKey, type CallSettled, type ToolContractInput } from '#contracts';
import { callIdOf } from '#kernel';
import { compileInput, contractDigest } from '#registry';
import { failedData, settledData, startData } from '../../testing/fixtures.ts';
import { RUN_ID, Scene, types } from '../../testing/scene.ts';
import type { ContractShelf } from './saga.types.ts';
import { outcomeOf } from './outcome.ts';

const text = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };
const common = {
  namespace: 'shop',
  version: '1.0.0',
  title: 'A tool',
  description: 'A tool of the tests',
  whenToUse: 'In tests',
  whenNotToUse: 'Elsewhere',
  input: text,
  output: { type: 'object' },
  execution: { kind: 'local', pool: 'default' },
} as const;
const tools = [
  { ...common, name: 'order', layer: 'read', sideEffects: 'none' },
  { ...common, name: 'note', layer: 'write', sideEffects: 'reversible' },
  {
    ...common,
    name: 'refund',
    layer: 'write',
    sideEffects: 'money',
    facts: {
      tool: 'shop.order',
      arguments: { order: { argument: '/order' } },
      values: { price: '/paid', state: '/state', resourceVersion: '/version' },
      versionPlace: { argument: 'version' },
    },
  },
].map((own) => toolContractSchema.parse(own as ToolContractInput));
const refs = tools.map((contract) => ({ tool: toolKey(contract), digest: contractDigest(contract) }));
const shelf: ContractShelf = new Map(
  tools.map((contract) => {
    const validator = compileInput(contract);
    return [contractDigest(contract), { contract, validate: (args: unknown) => validator.validate(args) }] as const;
  }),
);
const read = (sanitized: unknown): Partial<CallSettled> => ({
  contractDigest: refs[0]!.digest,
  result: { ...settledData().result!, sanitized },
});
const ORDER = { paid: 4200, state: 'shipped', version: 7 };
const toolset = refs.slice(1);

class Shop extends Scene {
  constructor() {
    super(shelf);
  }
  /** A model proposes a refund, and a note after it. @returns the ids of the fact read and of the refund */
  begin(undoTools = refs.slice(0, 1)): { readId: string; refundId: string } {
    this.say('StartRun', { ...startData('agent'), toolset, undoTools });
    const [order] = this.turn(1, ['shop.refund', { order: 'o1' }], ['shop.note', { order: 'o1' }]).filter(
      ({ type }) => type === 'CallProposed',
    );
    return { readId: order?.callId ?? '', refundId: callIdOf(RUN_ID, 1) };
  }
  proposed = () => this.all('CallProposed').map(({ callId, data }) => [callId, data.tool.split('@')[0]]);
}

describe('facts of a write (F1–F4)', () => {
  it('are read first by a governed call of the run, with arguments of the write; what comes after the write waits', () => {
    const shop = new Shop();
    const { readId, refundId } = shop.begin();
    expect(shop.proposed()).toEqual([[readId, 'shop.order']]);
    expect(shop.all('CallProposed')[0]!.data).toMatchObject({ effectClass: 'read', arguments: { order: 'o1' } });
    expect(shop.call(refundId)).toMatchObject({ state: 'held' });
    shop.settle(readId, read(ORDER));
    expect(shop.proposed()).toEqual([
      [readId, 'shop.order'],
      [refundId, 'shop.refund'],
    ]);
    expect(shop.all('CallProposed')[1]!.data.facts).toEqual({
      callId: readId,
      contractDigest: refs[0]!.digest,
      values: { price: 4200, state: 'shipped', resourceVersion: '7' },
    });
  });

  it('twice told, late or by another than the pool they change nothing; the proposal is sent again with the same facts', () => {
    const shop = new Shop();
    const { readId, refundId } = shop.begin();
    shop.settle(readId, read({ ...ORDER, paid: 1 }), { kind: 'pool', pool: 'other' });
    expect(shop.proposed()).toHaveLength(1);
    shop.settle(readId, read(ORDER));
    shop.settle(readId, read({ ...ORDER, paid: 1 }));
    shop.wake(shop.run!.state.drive!.at);
    const facts = shop.all('CallProposed').filter(({ callId }) => callId === refundId);
    expect(facts).toHaveLength(2);
    expect(facts[1]!.data).toEqual(facts[0]!.data);
  });

  it('the model gets one result for each of its proposals, and nothing of the read', () => {
    const shop = new Shop();
    const { readId, refundId } = shop.begin();
    shop.settle(readId, { ...read(ORDER), sources: ['secret-source'] });
    shop.settle(refundId);
    shop.settle(shop.all('CallProposed').at(-1)!.callId!);
    const [, turn] = shop.all('RequestTurn');
    expect(turn!.data.results.map(({ callId }) => callId)).toEqual([refundId, callIdOf(RUN_ID, 2)]);
    expect(shop.run!.state.sources).toEqual([]);
    expect(outcomeOf(shop.run!.state.calls)).toBe('all_succeeded');
  });

  it.each<[string, Partial<CallSettled>]>([
    ['a fact that is missing', read({ paid: 4200, version: 7 })],
    ['a price that is no exact integer', read({ ...ORDER, paid: '4200' })],
    ['an empty version', read({ ...ORDER, version: '' })],
    ['a text without bounds', read({ ...ORDER, state: 'x'.repeat(257) })],
    ['no object at all', read('shipped')],
    ['a read that failed', failedData('failed')],
    ['a read that was denied', { ...failedData('failed'), status: 'denied' }],
  ])('%s denies: the write is never proposed, and the model is told', (_name, data) => {
    const shop = new Shop();
    const { readId, refundId } = shop.begin();
    shop.settle(readId, data, data.status === 'denied' ? { kind: 'pool', pool: 'default' } : undefined);
    expect(shop.call(refundId)).toMatchObject({ state: 'settled', status: 'rejected', errorCode: 'PERMISSION_DENIED' });
    expect(shop.proposed().filter(([, tool]) => tool === 'shop.refund')).toEqual([]);
  });

  it('whose read was not published when the run began are missing', () => {
    const shop = new Shop();
    const { refundId } = shop.begin([]);
    expect(shop.call(refundId)).toMatchObject({ state: 'settled', errorCode: 'PERMISSION_DENIED' });
  });

  it('of a run that is cancelled while they are read come to nothing', () => {
    const shop = new Shop();
    const { readId } = shop.begin();
    shop.cancel();
    shop.settle(readId, read(ORDER));
    expect(types(shop.said).filter((type) => type === 'CallProposed')).toHaveLength(1);
    expect(shop.run!.state.phase.name).toBe('ended');
  });
});
