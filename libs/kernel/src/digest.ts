import { hash } from 'node:crypto';
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
  const input = typeof text === 'string' ? `${purpose}\n${text}` : Buffer.concat([Buffer.from(`${purpose}\n`), text]);
  return `sha256:${hash('sha256', input, 'hex')}`;
}

/** Binds arguments to the tool and contract that they are for. */
export function digestArguments(tool: string, contractDigest: string, args: unknown): string {
  return digestJson('arguments/v1', { tool, contractDigest, arguments: args });
}
