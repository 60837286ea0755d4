import { nodeHash } from './merkle-tree.ts';

/**
 * Proofs of RFC 6962, section 2.1: paths of hashes from which a root can be computed again.
 * `rangeOf` answers the root over the leaves from `start` to before `end`.
 */
export type RangeOf = (start: number, end: number) => Buffer;

/** The largest power of two below `n`. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** Path of the leaf with this index (from 0) in a tree of `size` leaves. */
export function inclusionPath(index: number, size: number, rangeOf: RangeOf): Buffer[] {
  const path: Buffer[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + split(end - start);
    if (index < middle) {
      path.push(rangeOf(middle, end));
      end = middle;
    } else {
      path.push(rangeOf(start, middle));
      start = middle;
    }
  }
  return path.reverse();
}

/** Proof that the tree of `first` leaves is the beginning of that of `second`. */
export function consistencyPath(first: number, second: number, rangeOf: RangeOf): Buffer[] {
  const path: Buffer[] = [];
  let [start, end, whole] = [0, second, true];
  while (first < end) {
    const middle = start + split(end - start);
    if (first <= middle) {
      path.push(rangeOf(middle, end));
      end = middle;
    } else {
      path.push(rangeOf(start, middle));
      start = middle;
      whole = false;
    }
  }
  if (!whole) path.push(rangeOf(start, end));
  return path.reverse();
}

/** The root that a leaf and its path lead to; null when the path is not one of such a leaf. */
export function rootOfInclusion(leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer | null {
  if (index < 0 || index >= size) return null;
  let [node, last] = [index, size - 1];
  let root = leaf;
  for (const hash of path) {
    if (last === 0) return null;
    if (isOdd(node) || node === last) {
      root = nodeHash(hash, root);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else root = nodeHash(root, hash);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 ? root : null;
}

/** Whether the path leads from the root of the first tree to that of the second. */
export function isConsistent(
  first: { readonly size: number; readonly root: Buffer },
  second: { readonly size: number; readonly root: Buffer },
  path: readonly Buffer[],
): boolean {
  if (first.size > second.size || first.size < 1) return false;
  if (first.size === second.size) return path.length === 0 && first.root.equals(second.root);
  // A perfect first tree is its own beginning of the path.
  const hashes = Number.isInteger(Math.log2(first.size)) ? [first.root, ...path] : [...path];
  if (hashes.length === 0) return false;
  let [node, last] = [first.size - 1, second.size - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  let [one, two] = [hashes[0]!, hashes[0]!];
  for (const hash of hashes.slice(1)) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      one = nodeHash(hash, one);
      two = nodeHash(hash, two);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else two = nodeHash(two, hash);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && one.equals(first.root) && two.equals(second.root);
}

const isOdd = (n: number): boolean => n % 2 === 1;
const half = (n: number): number => Math.floor(n / 2);
