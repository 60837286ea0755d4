import fc from 'fast-check';
import { CountersignError, parseJson } from '#kernel';

const fault = (input: string | Uint8Array, limits?: Parameters<typeof parseJson>[1]) => {
  try {
    parseJson(input, limits);
  } catch (error) {
    return error instanceof CountersignError ? { code: error.code, ...error.details[0] } : error;
  }
  return undefined;
};

describe('strict JSON', () => {
  it('reads every JSON value that JavaScript writes (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        let expected: unknown;
        try {
          expected = parseJson(text);
        } catch (error) {
          const rule = (error as CountersignError).details[0]!.rule;
          return ['forbiddenKey', 'numberRange', 'surrogate', 'nul'].includes(rule);
        }
        expect(expected).toEqual(JSON.parse(text));
        return true;
      }),
    );
  });
  it.each([
    ['{"a":1,"a":2}', 'duplicateKey', '/a'],
    ['{"a":{"b":[0,{"c":1,"\\u0063":2}]}}', 'duplicateKey', '/a/b/1/c'],
    ['{"a/b~":{"x":1,"x":1}}', 'duplicateKey', '/a~1b~0/x'],
    ['{"__proto__":{}}', 'forbiddenKey', '/__proto__'],
    ['[9007199254740993]', 'numberRange', '/0'],
    ['{"n":1e400}', 'numberRange', '/n'],
    ['["ok","\\ud800"]', 'surrogate', '/1'],
    ['{"a":["\\u0000"]}', 'nul', '/a/0'],
    ['{"a":', 'syntax', ''],
    ['NaN', 'syntax', ''],
    ['', 'syntax', ''],
  ])('refuses %s', (text, rule, path) => {
    expect(fault(text)).toMatchObject({ code: 'INVALID_JSON', rule, path });
  });
  it('refuses bytes that are not UTF-8, a byte order mark, too deep and too large', () => {
    expect(fault(Uint8Array.of(0x22, 0xff, 0x22))).toMatchObject({ rule: 'utf8' });
    expect(fault(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toMatchObject({ rule: 'syntax' });
    expect(fault('[[[1]]]', { maxBytes: 100, maxDepth: 2 })).toMatchObject({ rule: 'maxDepth' });
    expect(fault('"é"', { maxBytes: 3, maxDepth: 2 })).toMatchObject({ rule: 'maxBytes' });
  });
});
