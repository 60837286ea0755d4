import type { Checkpoint } from '#audit';
import type { Tx } from '#persistence';
import type { GrownTree } from '../domain/grow-trees.ts';

/**
 * Trees, their new tiles and the checkpoints over them. Trees follow from the records alone, so it does not matter which replica
 * writes one; a smaller one never replaces a greater one.
 * @returns those checkpoints that are new: another replica may have signed the same heads
 */
export async function saveTrees(
  tx: Tx,
  trees: readonly GrownTree[],
  checkpoints: readonly Checkpoint[],
): Promise<Checkpoint[]> {
  const tiles = trees.flatMap(({ tenant, partition, tiles: own }) =>
    own.map((tile) => ({ tenant, partition, ...tile })),
  );
  await tx.change({
    name: 'save-ledger-trees',
    text: `insert into ledger_tree as t (tenant, part, size, head, peaks)
           select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::bytea[], $5::bytea[])
           on conflict (tenant, part) do update set size = excluded.size, head = excluded.head, peaks = excluded.peaks
             where t.size < excluded.size`,
    values: [
      trees.map(({ tenant }) => tenant),
      trees.map(({ partition }) => partition),
      trees.map(({ size }) => size),
      trees.map(({ head }) => head),
      trees.map(({ peaks }) => peaks),
    ],
  });
  await tx.change({
    name: 'save-ledger-tiles',
    text: `insert into ledger_tile (tenant, part, tile, root)
           select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::bytea[]) on conflict do nothing`,
    values: [
      tiles.map(({ tenant }) => tenant),
      tiles.map(({ partition }) => partition),
      tiles.map(({ tile }) => tile),
      tiles.map(({ root }) => root),
    ],
  });
  const rows = await tx.query<{ jws: string }>({
    name: 'insert-checkpoints',
    text: `insert into checkpoint (tenant, size, kid, jws)
           select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
           on conflict (tenant, size) do nothing returning jws`,
    values: [
      checkpoints.map(({ tenant }) => tenant),
      checkpoints.map(({ size }) => size),
      checkpoints.map(({ kid }) => kid),
      checkpoints.map(({ jws }) => jws),
    ],
  });
  const inserted = new Set(rows.map(({ jws }) => jws));
  return checkpoints.filter(({ jws }) => inserted.has(jws));
}
