import type { StoredDeadLetter } from '#bus';

/** A dead letter as JSON: bytes as UTF-8 text where they are, else as base64. */
export const letterJson = (letter: StoredDeadLetter): object => {
  const { key, value, headers, ...rest } = letter;
  return {
    ...rest,
    type: typeOf(letter),
    key: bytesJson(key),
    value: bytesJson(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, bytes]) => [name, bytesJson(bytes)])),
  };
};

function bytesJson(bytes: Buffer | null): { readonly text: string } | { readonly base64: string } | null {
  if (bytes === null) return null;
  const text = textOf(bytes);
  return text === null ? { base64: bytes.toString('base64') } : { text };
}

/** null when the bytes are not UTF-8. */
export function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** What kind of message it is, as far as its bytes tell. */
export function typeOf(letter: StoredDeadLetter): string {
  try {
    const { type } = JSON.parse(letter.value?.toString('utf8') ?? '') as { type?: unknown };
    return typeof type === 'string' ? type : '(unreadable)';
  } catch {
    return '(unreadable)';
  }
}
