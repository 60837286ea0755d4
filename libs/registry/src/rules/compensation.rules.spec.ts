import type { ToolContract, ToolContractInput } from '#contracts';
import { checkPublishable, publishFaults } from '#registry';
import { sampleContract } from '../../testing/sample-contract.ts';

const close = sampleContract({
  name: 'close_ticket',
  input: {
    type: 'object',
    properties: { id: { type: 'string' }, why: { type: 'string', maxLength: 90 }, times: { type: 'integer' } },
    required: ['id', 'why'],
    additionalProperties: false,
  },
});
const mapped = (args: object, tool = 'desk.close_ticket'): ToolContract =>
  sampleContract({
    noUndoReason: undefined,
    compensation: { tool, arguments: args } as ToolContractInput['compensation'],
  });
const good = { id: { result: '/id' }, why: { argument: '/summary' } };

describe('publishing a compensation refuses (G13)', () => {
  it('nothing that fits: it is the reason that a write else has to give', () => {
    expect(publishFaults(mapped(good))).toEqual([]);
    expect(() => checkPublishable(mapped(good), close)).not.toThrow();
    expect(() => checkPublishable(mapped(good, 'desk.close_ticket@1.0.0'), close)).not.toThrow();
  });

  it('a point of no return without its reason', () => {
    const pivot = { compensation: { pivot: true } } as const;
    expect(publishFaults(sampleContract(pivot))).toEqual([]);
    expect(publishFaults(sampleContract({ ...pivot, noUndoReason: undefined }))).toMatchObject([
      { path: '/noUndoReason' },
    ]);
  });

  it.each<[string, string, object]>([
    ['an argument that is not there', '/compensation/arguments/why', { ...good, why: { argument: '/nothing' } }],
    ['a field that the result lacks', '/compensation/arguments/id', { ...good, id: { result: '/nothing' } }],
  ])('%s', (_what, path, args) => {
    expect(publishFaults(mapped(args))).toMatchObject([{ path }]);
  });

  it.each<[string, string, object]>([
    ['/compensation/arguments/nobody', 'nobody', { ...good, nobody: { value: 1 } }],
    ['/compensation/arguments', 'lacks "id"', { why: good.why }],
    ['/compensation/arguments/times', 'which is integer', { ...good, times: { result: '/id' } }],
  ])('together with the undo tool: %s', (path, text, args) => {
    expect(() => checkPublishable(mapped(args), close)).toThrow(path);
    expect(() => checkPublishable(mapped(args), close)).toThrow(text);
  });

  it('a read as the undo, and a read that is to be undone', () => {
    const read = { layer: 'read', sideEffects: 'none', errors: [] } satisfies Partial<ToolContractInput>;
    const execution = { kind: 'http', method: 'GET', url: '${DESK_URL}/t' } as const;
    const look = sampleContract({ ...read, execution, name: 'close_ticket', input: close.input });
    expect(() => checkPublishable(mapped(good), look)).toThrow('/compensation/tool');
    const undone = sampleContract({ ...read, execution, compensation: { pivot: true } });
    expect(publishFaults(undone)).toMatchObject([{ path: '/compensation' }]);
  });
});
