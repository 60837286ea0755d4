/**
 * How far the ledgers of a tenant were read: `0.120,3.99` = of ledger 0 up to record 120, of ledger 3 up to record 99, of the
 * others nothing. What is recorded later is behind every cursor, whichever ledger it goes to.
 */
export type AuditCursor = ReadonlyMap<number, number>;

export const CURSOR_PATTERN = /^\d{1,4}\.\d{1,15}(?:,\d{1,4}\.\d{1,15}){0,999}$/;

export const writeCursor = (cursor: AuditCursor): string =>
  [...cursor]
    .sort(([a], [b]) => a - b)
    .map(([partition, sequence]) => `${partition}.${sequence}`)
    .join(',');

/** Of a text that fits the pattern, or '' for the beginning. */
export const readCursor = (text: string): AuditCursor =>
  new Map(
    text === ''
      ? []
      : text.split(',').map((part) => {
          const [partition, sequence] = part.split('.');
          return [Number(partition), Number(sequence)];
        }),
  );

/** The cursor behind these records. */
export function cursorAfter(cursor: AuditCursor, items: readonly unknown[]): AuditCursor {
  const moved = new Map(cursor);
  for (const item of items) {
    const { ledger, sequence } = item as { ledger?: unknown; sequence?: unknown };
    const partition = Number(String(ledger).split('/')[1]);
    const seq = Number(sequence);
    if (Number.isSafeInteger(partition) && Number.isSafeInteger(seq))
      moved.set(partition, Math.max(moved.get(partition) ?? 0, seq));
  }
  return moved;
}
