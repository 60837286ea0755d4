import type { ToolContractInput } from '#contracts';
import { diffContracts } from '#registry';
import { sampleContract } from '../../testing/sample-contract.ts';

const before = sampleContract();
const input = before.input as { properties: Record<string, object> };
const kinds = (over: Partial<ToolContractInput>): unknown[] => {
  const { kind, changes } = diffContracts(before, sampleContract({ ...over, version: '2.0.0' }));
  return [kind, ...changes.map((change) => `${change.path} ${change.kind}`)];
};

describe('the difference between two versions of a tool', () => {
  it('a new version of the same content is identical', () => {
    expect(kinds({})).toEqual(['identical']);
  });

  it('texts for models and people are told apart from what the tool does', () => {
    expect(kinds({ description: 'Opens a ticket, and says so.' })).toEqual(['text_only', '/description text_only']);
    expect(kinds({ timeoutMs: 77 })).toEqual(['compatible', '/timeoutMs compatible']);
    expect(kinds({ sideEffects: 'irreversible' })).toEqual(['effect_change', '/sideEffects effect_change']);
  });

  it('arguments: what lets more in widens, what lets less in narrows; the gravest change names the whole', () => {
    const properties = { ...input.properties, extra: { type: 'string' } };
    expect(kinds({ input: { ...before.input, properties } })).toEqual(['widening', '/input/properties/extra widening']);
    const required = [...((before.input.required as string[] | undefined) ?? []), 'extra'];
    expect(kinds({ input: { ...before.input, properties, required } })).toEqual([
      'widening',
      '/input/properties/extra widening',
      '/input/required narrowing',
    ]);
    expect(kinds({ input: { ...before.input, minProperties: 1 } })).toEqual([
      'narrowing',
      '/input/minProperties narrowing',
    ]);
    expect(kinds({ input: { ...before.input, anyOf: [{}] } })).toEqual(['effect_change', '/input/anyOf effect_change']);
  });

  it('who may do it without being asked: less strict widens, stricter narrows', () => {
    const approval = { ...before.approval };
    expect(kinds({ approval: { ...approval, mode: 'always' } })[0]).toBe(
      approval.mode === 'always' ? 'identical' : 'narrowing',
    );
    expect(kinds({ approval: { ...approval, forbidSelf: !approval.forbidSelf } })[0]).toBe(
      approval.forbidSelf ? 'widening' : 'narrowing',
    );
    expect(kinds({ access: { roles: ['clerk'] } })).toEqual(['narrowing', '/access/roles narrowing']);
  });

  it('contracts of two tools have none', () => {
    expect(() => diffContracts(before, sampleContract({ name: 'other' }))).toThrow(TypeError);
  });
});
