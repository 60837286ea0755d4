import { compileInput, compileOutput } from '#registry';
import { sampleContract } from '../testing/sample-contract.ts';

const details = (args: unknown, input = sampleContract().input) => {
  const checked = compileInput(sampleContract({ input })).validate(args);
  return checked.ok ? [] : checked.details;
};

describe('arguments against their contract (G2, G3)', () => {
  it('fills in defaults before anyone approves, and leaves the given value alone', () => {
    const given = Object.freeze({ severity: 'sev1', summary: 'disk full' });
    expect(compileInput(sampleContract()).validate(given)).toEqual({ ok: true, arguments: { ...given, notify: true } });
    expect(given).not.toHaveProperty('notify');
  });

  it('names place, rule and what is allowed, for every fault at once', () => {
    expect(details({ severity: 'high', notify: 'yes', due: '2026-02-30', extra: 1 })).toEqual(
      expect.arrayContaining([
        { path: '/summary', rule: 'required', message: 'is missing' },
        { path: '/extra', rule: 'additionalProperties', message: 'is not allowed here' },
        expect.objectContaining({ path: '/severity', rule: 'enum', allowed: ['sev1', 'sev2', 'sev3'] }),
        expect.objectContaining({ path: '/notify', rule: 'type', allowed: ['boolean'] }),
        expect.objectContaining({ path: '/due', rule: 'format' }),
      ]),
    );
  });

  it('coerces nothing', () => {
    expect(details({ severity: 'sev1', summary: 7 })).toMatchObject([{ path: '/summary', rule: 'type' }]);
  });

  it.each([null, [], 'text', 7, undefined])('refuses %p instead of an object', (args) => {
    expect(details(args)).toEqual([{ path: '', rule: 'type', message: 'must be an object', allowed: ['object'] }]);
  });

  it('points into arrays and escapes the segments of a pointer', () => {
    const input = { type: 'object', properties: { 'a/b~': { type: 'array', items: { type: 'integer' } } } };
    expect(details({ 'a/b~': [1, 'x'] }, input)).toMatchObject([{ path: '/a~1b~0/1', rule: 'type' }]);
  });

  it('tells a bounded number of faults', () => {
    const input = { type: 'object', properties: { list: { type: 'array', items: { type: 'integer' } } } };
    expect(details({ list: Array.from({ length: 1000 }, () => 'x') }, input)).toHaveLength(20);
  });

  it('never repeats the refused value', () => {
    expect(JSON.stringify(details({ severity: 'hunter2', summary: 'x' }))).not.toContain('hunter2');
  });

  it('checks 2020-12: prefixItems, dependentRequired, unevaluatedProperties', () => {
    const input = {
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } },
      dependentRequired: { pair: ['why'] },
      unevaluatedProperties: false,
    };
    expect(details({ pair: ['a', 'b', 'c'], odd: 1 }, input).map((d) => d.rule)).toEqual(
      expect.arrayContaining(['dependentRequired', 'items', 'type', 'unevaluatedProperties']),
    );
  });

  it('two contracts may use the same $id', () => {
    const input = { $id: 'https://example.test/args', type: 'object' };
    expect(details({}, input)).toEqual([]);
    expect(details({}, input)).toEqual([]);
  });
});

describe('a result against its contract', () => {
  it('says where it does not fit', () => {
    const output = compileOutput(sampleContract());
    expect(output.validate({ id: 'T-1' })).toEqual({ ok: true });
    expect(output.validate({})).toMatchObject({ ok: false, details: [{ path: '/id', rule: 'required' }] });
  });
});
