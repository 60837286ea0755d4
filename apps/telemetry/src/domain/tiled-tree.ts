import { leafHash, nodeHash, type RangeOf, TILE } from '#kernel';

/** The leaves (their numbers from 0, end excluded) that a proof needs beside the tiles: those around `index` and the last ones. */
export function leavesNeeded(index: number, size: number): readonly { readonly start: number; readonly end: number }[] {
  const whole = size - (size % TILE);
  const tile = index - (index % TILE);
  const last = { start: whole, end: size };
  return tile >= whole ? [last] : [{ start: tile, end: tile + TILE }, last];
}

/**
 * Roots over parts of a tree, of its tiles and of the leaves at the edges.
 * @throws RangeError where a tile or a leaf is not there
 */
export function rangesOf(tiles: readonly Buffer[], leaves: ReadonlyMap<number, Buffer>): RangeOf {
  const rangeOf: RangeOf = (start, end) => {
    const width = end - start;
    if (width === TILE && start % TILE === 0 && tiles[start / TILE]) return tiles[start / TILE]!;
    if (width === 1) {
      const digest = leaves.get(start);
      if (!digest) throw new RangeError(`record ${start + 1} is not there`);
      return leafHash(digest);
    }
    let left = 1;
    while (left * 2 < width) left *= 2;
    return nodeHash(rangeOf(start, start + left), rangeOf(start + left, end));
  };
  return rangeOf;
}
