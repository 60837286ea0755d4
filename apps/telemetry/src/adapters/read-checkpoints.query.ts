import { showCheckpoint, type Checkpoint } from '#audit';
import type { Sql } from '#persistence';

interface Row {
  readonly kid: string;
  readonly jws: string;
}
const show = ({ kid, jws }: Row): Checkpoint => showCheckpoint(jws, kid);

/** By growing size. */
export async function readCheckpoints(sql: Sql, tenant: string, after: number, limit: number): Promise<Checkpoint[]> {
  const rows = await sql.query<Row>({
    name: 'read-checkpoints',
    text: 'select kid, jws from checkpoint where tenant = $1 and size > $2 order by size limit $3',
    values: [tenant, after, limit],
  });
  return rows.map(show);
}

/** The newest; null before the first. */
export async function readLastCheckpoint(sql: Sql, tenant: string): Promise<Checkpoint | null> {
  const rows = await sql.query<Row>({
    name: 'read-last-checkpoint',
    text: 'select kid, jws from checkpoint where tenant = $1 order by size desc limit 1',
    values: [tenant],
  });
  return rows.map(show)[0] ?? null;
}
