/** Bytes of UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

/** The longest beginning of `text` with at most `maxBytes` bytes, never half a character. */
export function headBytes(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return '';
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes), 'utf8');
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && (bytes[end] ?? 0) >> 6 === 0b10) end--;
  return dropHalfPair(bytes.toString('utf8', 0, end));
}

/** The longest end of `text` with at most `maxBytes` bytes. */
export function tailBytes(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return '';
  const bytes = Buffer.from(text.slice(-maxBytes).toWellFormed(), 'utf8');
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && bytes[start]! >> 6 === 0b10) start++;
  const tail = bytes.toString('utf8', start);
  return tail.startsWith('\ufffd') && !text.endsWith(tail) ? tail.slice(1) : tail;
}

const dropHalfPair = (text: string): string => (text.endsWith('\ufffd') ? text.slice(0, -1) : text);

/** At most `maxBytes`, with a note of how much was left out between beginning and end. */
export function cutText(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const total = byteLength(text);
  if (total <= maxBytes) return { text, cut: false };
  const room = maxBytes - 40; // the note, with up to ten digits
  if (room <= 0) return { text: headBytes(text, maxBytes), cut: true };
  const tail = room >= 256 ? tailBytes(text, Math.floor(room / 8)) : '';
  const head = headBytes(text, room - byteLength(tail));
  const left = total - byteLength(head) - byteLength(tail);
  return { text: `${head}… [${left} bytes left out] …${tail}`, cut: true };
}
