const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const { imul } = Math;

/** murmur2 as Kafka's clients compute it; a signed 32 bit number. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes;
  let h = SEED ^ length;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    let k = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    k = imul(k, M);
    k = imul(k ^ (k >>> 24), M);
    h = imul(h, M) ^ k;
  }
  if (length - i === 3) h ^= bytes[i + 2]! << 16;
  if (length - i >= 2) h ^= bytes[i + 1]! << 8;
  if (length - i >= 1) h = imul(h ^ bytes[i]!, M);
  h = imul(h ^ (h >>> 13), M);
  return h ^ (h >>> 15);
}

/** The partition of a record of a public topic: the default of clients in any language. */
export const partitionOf = (key: string, partitions: number): number =>
  (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
