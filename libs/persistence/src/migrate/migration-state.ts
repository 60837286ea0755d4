import type { Database } from '../database.ts';
import { wantedMigrations, digestOf, type Migration } from './migrate.ts';

export interface MigrationState {
  /** Not applied yet. */
  readonly pending: readonly string[];
  /** Applied with other content. */
  readonly changed: readonly string[];
  /** Applied by a newer version. */
  readonly unknown: readonly string[];
}

/** Compares a schema with what this version needs; changes nothing. */
export async function migrationState(database: Database, own: readonly Migration[]): Promise<MigrationState> {
  const wanted = wantedMigrations(own);
  const [there] = await database.query<{ found: boolean }>({
    text: `select to_regclass($1) is not null as found`,
    values: [`${database.schema}.migration`],
  });
  const rows = there!.found
    ? await database.query<{ name: string; digest: string }>({ text: 'select name, digest from migration' })
    : [];
  const applied = new Map(rows.map(({ name, digest }) => [name, digest]));
  return {
    pending: wanted.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
    changed: wanted
      .filter(({ name, sql }) => applied.has(name) && applied.get(name) !== digestOf(sql))
      .map(({ name }) => name),
    unknown: [...applied.keys()].filter((name) => !wanted.some((migration) => migration.name === name)),
  };
}
