import { isTriviallyStrict } from './lower-tool.ts';

const object = (properties: object, required: string[], rest: object = {}) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
  ...rest,
});

describe('strict mode is asked for only where it changes nothing', () => {
  it.each([
    ['no properties', object({}, [])],
    [
      'all required',
      object({ a: { type: 'string', enum: ['x'] }, b: { type: 'array', items: { type: 'integer' } } }, ['a', 'b']),
    ],
  ])('%s: strict', (_what, schema) => expect(isTriviallyStrict(schema)).toBe(true));

  it.each([
    ['an optional property', object({ a: { type: 'string' } }, [])],
    ['an open object', { type: 'object', properties: {}, required: [] }],
    ['an inner open object', object({ a: { type: 'object', properties: {} } }, ['a'])],
    ['a default', object({ a: { type: 'string', default: 'x' } }, ['a'])],
    ['a bound that older models refuse', object({ a: { type: 'integer', minimum: 1 } }, ['a'])],
    ['a union', object({ a: { type: ['string', 'null'] } }, ['a'])],
    ['a condition', object({}, [], { allOf: [] })],
    ['a reference', object({ a: { $ref: '#/$defs/a' } }, ['a'])],
    ['an array without items', object({ a: { type: 'array' } }, ['a'])],
    ['no object at the root', { type: 'string' }],
    ['deep nesting', [1, 2, 3, 4, 5].reduce<object>((inner) => object({ a: inner }, ['a']), { type: 'string' })],
  ])('%s: not strict', (_what, schema) => expect(isTriviallyStrict(schema)).toBe(false));
});
