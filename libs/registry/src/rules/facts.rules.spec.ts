import type { ToolContract, ToolContractInput } from '#contracts';
import { checkPublishable, contractDigest, publishFaults } from '#registry';
import { sampleContract } from '../../testing/sample-contract.ts';

const FACTS = {
  tool: 'desk.look',
  arguments: { id: { argument: '/summary' } },
  values: { resourceVersion: '/version' },
  versionPlace: { argument: 'version' },
} satisfies ToolContractInput['facts'];
const CHANGED = { when: 'changed', code: 'APPROVAL_MISMATCH', noEffect: true, meaning: 'It has changed.' } as const;
const wanting = (over: object = {}, own: Partial<ToolContractInput> = {}): ToolContract =>
  sampleContract({ errors: [CHANGED], facts: { ...FACTS, ...over }, ...own } as Partial<ToolContractInput>);

describe('publishing a contract with facts refuses (G13)', () => {
  it('nothing that fits; a contract without facts has the digest that it had', () => {
    expect(publishFaults(wanting())).toEqual([]);
    const { facts: _none, ...plain } = wanting();
    expect(contractDigest(plain)).toBe(contractDigest(sampleContract({ errors: [CHANGED] })));
  });

  it.each<[string, string, ToolContract]>([
    ['an argument that is not there', '/facts/arguments/id', wanting({ arguments: { id: { argument: '/nothing' } } })],
    [
      'a version where a caller could give it',
      '/facts/versionPlace',
      wanting({ versionPlace: { argument: 'summary' } }),
    ],
    ['no answer for a changed resource', '/errors', wanting({}, { errors: [{ ...CHANGED, noEffect: false }] })],
    ['facts of a read', '/facts', wanting({}, { layer: 'read', sideEffects: 'none' })],
    [
      'a header of a local tool',
      '/facts/versionPlace',
      wanting({ versionPlace: { header: 'If-Match' } }, { execution: { kind: 'local' } }),
    ],
  ])('%s', (_what, place, contract) => {
    expect(publishFaults(contract).map((fault) => fault.path)).toContain(place);
  });

  it('a fact read that is a write, and an undo that wants facts, published beside it', () => {
    const look = sampleContract({ name: 'look', errors: [CHANGED] });
    expect(() => checkPublishable(wanting(), look)).toThrow(/\/facts\/tool: desk\.look is not a read/);
    const undone = sampleContract({
      name: 'other',
      errors: [CHANGED],
      noUndoReason: undefined,
      compensation: { tool: `desk.${wanting().name}`, arguments: { summary: { argument: '/summary' } } },
    });
    expect(() => checkPublishable(undone, wanting())).toThrow(/wants facts/);
  });
});
