import { createHash } from 'node:crypto';
import canonicalizeJson from 'canonicalize';

/** RFC 8785 text of a JSON value. Throws on undefined, BigInt, non-finite numbers and lone surrogates. */
export function canonicalize(value: unknown): string {
  const text = canonicalizeJson(value);
  if (text === undefined) throw new TypeError('undefined has no canonical form');
  return text;
}

/** `sha256:<hex>` over purpose + RFC 8785 text; `purpose` separates domains, e.g. `contract/v1`. */
export function digestJson(purpose: string, value: unknown): string {
  return digestText(purpose, canonicalize(value));
}

/** `sha256:<hex>` over purpose + text. */
export function digestText(purpose: string, text: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(`${purpose}\n`).update(text).digest('hex')}`;
}

/** Binds arguments to the tool and contract that they are for. */
export function digestArguments(tool: string, contractDigest: string, args: unknown): string {
  return digestJson('arguments/v1', { tool, contractDigest, arguments: args });
}
