import { type LedgerId, ledgerName } from '#contracts';
import { GrowingTree, leafHash, TILE } from '#kernel';
import type { LedgerHead } from '#audit';

/** A ledger's tree as it is stored: its size, the digest of its last record, its peaks one after the other. */
export interface StoredTree extends LedgerId {
  readonly size: number;
  readonly head: Buffer;
  readonly peaks: Buffer;
}

export interface GrownTree extends StoredTree {
  /** Roots over 256 records that became whole. */
  readonly tiles: readonly { readonly tile: number; readonly root: Buffer }[];
  readonly root: Buffer;
}

const BYTES = 32;

/**
 * Appends the digests of the records behind the tree.
 * G1 a leaf's number is the next one, else the tree does not grow past it: what is missing is never signed over.
 */
export function growTree(
  { tenant, partition, ...tree }: StoredTree,
  leaves: readonly { readonly seq: number; readonly digest: Buffer }[],
): GrownTree {
  const peaks = peaksOf(tree.peaks);
  const inTile = tree.size % TILE;
  const whole = new GrowingTree(tree.size - inTile, peaks.slice(0, peaks.length - onesOf(inTile)));
  let tile = new GrowingTree(inTile, peaks.slice(peaks.length - onesOf(inTile)));
  const tiles: { tile: number; root: Buffer }[] = [];
  let { head } = tree;
  for (const { seq, digest } of leaves) {
    if (seq !== whole.size + tile.size + 1) break;
    tile.push(leafHash(digest));
    head = digest;
    if (tile.size < TILE) continue;
    tiles.push({ tile: whole.size / TILE, root: tile.root() });
    whole.push(tile.root(), TILE);
    tile = new GrowingTree();
  }
  const size = whole.size + tile.size;
  const grown = [...whole.peaks, ...tile.peaks];
  const root = size === 0 ? Buffer.alloc(0) : new GrowingTree(size, grown).root();
  return { tenant, partition, size, head, peaks: Buffer.concat(grown), tiles, root };
}

const peaksOf = (bytes: Buffer): Buffer[] =>
  Array.from({ length: bytes.length / BYTES }, (_, i) => bytes.subarray(i * BYTES, (i + 1) * BYTES));

/** Bits that are set: so many peaks has a tree of this size. */
const onesOf = (size: number): number => size.toString(2).replaceAll('0', '').length;

export const headOf = (tree: GrownTree): LedgerHead => ({
  ledger: ledgerName(tree),
  size: tree.size,
  head: `sha256:${tree.head.toString('hex')}`,
  root: `sha256:${tree.root.toString('hex')}`,
});
