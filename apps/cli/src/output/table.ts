import { cut, printableLine, widthOf } from './printable.ts';

export interface Column<T> {
  readonly title: string;
  /** The cell's text; empty for nothing. */
  readonly of: (item: T) => string;
}

const GAP = '  ';

/**
 * Lines of a table, its titles first.
 * @param width columns of the terminal: the last column is cut to fit; absent = nothing is cut, for pipes
 */
export function tableLines<T>(columns: readonly Column<T>[], items: readonly T[], width?: number): string[] {
  const rows = items.map((item) => columns.map((column) => printableLine(column.of(item))));
  const titles = columns.map((column) => column.title);
  const widths = titles.map((title, i) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i]!))));
  const before = widths.slice(0, -1).reduce((sum, w) => sum + w + GAP.length, 0);
  const last = width === undefined ? Infinity : Math.max(width - before, 12);
  return [titles, ...rows].map((cells) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cut(cell, last) : cell + ' '.repeat(widths[i]! - widthOf(cell))))
      .join(GAP)
      .trimEnd(),
  );
}
