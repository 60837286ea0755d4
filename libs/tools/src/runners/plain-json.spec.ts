import fc from 'fast-check';
import { toPlainJson } from './plain-json.ts';

describe('toPlainJson', () => {
  it.each([
    ['nothing', undefined, null],
    ['a BigInt, all digits kept', { total: 9223372036854775807n }, { total: '9223372036854775807' }],
    [
      'a Map',
      new Map<unknown, unknown>([
        ['a', 1],
        [2, 'b'],
      ]),
      { a: 1, 2: 'b' },
    ],
    ['a Set', new Set([1, 2]), [1, 2]],
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['a broken date', { at: new Date(Number.NaN) }, { at: null }],
    ['numbers that JSON has not', [Number.NaN, Infinity], ['[NaN]', '[Infinity]']],
    ['minus zero, which JSON writes as 0', [-0], [0]],
    ['bytes', { b: Buffer.from('abc') }, { b: '[3 bytes]' }],
    ['functions and symbols', { f: () => 1, s: Symbol('s') }, { f: '[function]', s: '[symbol]' }],
    ['an error, without its stack', new RangeError('no'), { name: 'RangeError', message: 'no' }],
    [
      'a throwing toJSON',
      {
        id: 3,
        toJSON: () => {
          throw new Error('x');
        },
      },
      { id: 3 },
    ],
    ['keys that reach a prototype', JSON.parse('{"a":1,"__proto__":{"x":1},"constructor":{"prototype":{}}}'), { a: 1 }],
    ['half a surrogate pair', '\ud83d!', '\ufffd!'],
  ])('turns %s into plain JSON', (_title, value, expected) => expect(toPlainJson(value).value).toEqual(expected));

  it('replaces a cycle, and shows what merely appears twice both times', () => {
    const twice = { v: 1 };
    const value: Record<string, unknown> = { id: 1, a: twice, b: [twice, twice] };
    value.self = value;
    expect(toPlainJson(value)).toEqual({
      value: { id: 1, a: { v: 1 }, b: [{ v: 1 }, { v: 1 }], self: '[circular]' },
      replaced: 1,
    });
  });

  it('survives getters, proxies and extreme depth', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no');
        },
        get: () => {
          throw new Error('no');
        },
      },
    );
    let deep: unknown = 4;
    for (let i = 0; i < 20_000; i++) deep = { a: deep };
    const value = {
      id: 2,
      get lazy() {
        throw new Error('lazy');
      },
      hostile,
      deep,
    };
    expect(toPlainJson(value).value).toMatchObject({ id: 2, lazy: '[unreadable]', hostile: '[unreadable]' });
  });

  it('is total: whatever comes in, JSON comes out, and a JSON value stays what it is', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withNullPrototype: true,
        }),
        (value) => {
          const { value: plain } = toPlainJson(value);
          expect(JSON.parse(JSON.stringify(plain))).toEqual(plain);
        },
      ),
    );
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }), (value) => {
        fc.pre(!/"(__proto__|constructor|prototype)"/.test(JSON.stringify(value)));
        expect(JSON.stringify(toPlainJson(value).value)).toBe(JSON.stringify(value));
      }),
    );
  });
});
