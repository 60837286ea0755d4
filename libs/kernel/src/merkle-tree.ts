import { hash } from 'node:crypto';

/**
 * The Merkle tree over a ledger, of the shape of RFC 6962 (SHA-256): a leaf is 0x00 and the digest of a record, a node 0x01 and
 * its two children. The digest of the record stands for its bytes, so that a tree is made of what the chain has anyway.
 */
export const leafHash = (digest: Uint8Array): Buffer => sha256(LEAF, digest);
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(NODE, left, right);

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);
const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

/**
 * A tree that grows at its right end. It keeps only its peaks, the roots of the perfect trees that it is made of: their sizes
 * are the powers of two in `size`, the greatest first.
 */
export class GrowingTree {
  #size: number;
  readonly #peaks: Buffer[];

  constructor(size = 0, peaks: readonly Buffer[] = []) {
    this.#size = size;
    this.#peaks = [...peaks];
  }

  get size(): number {
    return this.#size;
  }

  get peaks(): readonly Buffer[] {
    return this.#peaks;
  }

  /** Adds a perfect tree of `width` leaves, a power of two that divides the size. */
  push(root: Buffer, width = 1): void {
    let right = root;
    for (let span = width; Math.floor(this.#size / span) % 2 === 1; span *= 2)
      right = nodeHash(this.#peaks.pop()!, right);
    this.#peaks.push(right);
    this.#size += width;
  }

  /** Of at least one leaf. */
  root(): Buffer {
    let root = this.#peaks.at(-1)!;
    for (let i = this.#peaks.length - 2; i >= 0; i--) root = nodeHash(this.#peaks[i]!, root);
    return root;
  }
}

/** Records below one node that is stored: proofs read these nodes, and leaves only at the edges. */
export const TILE = 256;
