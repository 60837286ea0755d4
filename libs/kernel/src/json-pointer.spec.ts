import fc from 'fast-check';
import { parsePointer, pointerStep, valueAt } from '#kernel';

describe('JSON pointers', () => {
  it('name any keys, and those again', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (keys) => {
        expect(parsePointer(keys.map(pointerStep).join(''))).toEqual(keys);
      }),
    );
  });

  it.each<[string, unknown]>([
    ['', { a: [{ 'b/c': 1 }] }],
    ['/a/0/b~1c', 1],
    ['/a/1', undefined],
    ['/a/0/b~1c/x', undefined],
    ['/toString', undefined],
  ])('%j finds what is there, and nothing that is inherited', (pointer, value) => {
    expect(valueAt({ a: [{ 'b/c': 1 }] }, pointer)).toEqual(value);
  });
});
