import type { ToolContract } from '#contracts';
import { digestJson } from '#kernel';

/** The address of a contract: `sha256:<hex>` of its RFC 8785 text. The order of keys does not matter. */
export function contractDigest(contract: ToolContract): string {
  return digestJson('contract/v1', contract);
}
