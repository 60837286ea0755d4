import { cut, printable, printableLine, widthOf } from './printable.ts';
import { tableLines } from './table.ts';

const COLUMNS = [
  { title: 'ID', of: ([id]: readonly string[]) => id! },
  { title: 'TEXT', of: ([, text]: readonly string[]) => text! },
];

describe('a table', () => {
  it('lines up, also with East Asian text', () => {
    expect(
      tableLines(COLUMNS, [
        ['查询', 'a'],
        ['x', 'b'],
      ]),
    ).toEqual(['ID    TEXT', '查询  a', 'x     b']);
  });

  it('is cut to the width of a terminal, and never in a pipe', () => {
    const row = ['x', '0123456789'.repeat(3)];
    expect(tableLines(COLUMNS, [row], 20)[1]).toBe('x   012345678901234…');
    expect(tableLines(COLUMNS, [row])[1]).toBe(`x   ${row[1]}`);
  });

  it('does not obey control characters of untrusted text (G10)', () => {
    expect(printableLine('a\u001b[2Jb\nc\u202e')).toBe('a·[2Jb c·');
    expect(printable('a\nb\u0007')).toBe('a\nb·');
    expect(tableLines(COLUMNS, [['x', 'one\r\ntwo']])[1]).toBe('x   one two');
  });

  it('counts columns, not characters', () => {
    expect([widthOf('abc'), widthOf('查'), widthOf('e\u0301'), cut('查询文档', 5)]).toEqual([3, 2, 1, '查询…']);
  });
});
