import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CountersignError } from '#kernel';
import type { Database, Tx } from '../database.ts';

/**
 * Numbered migrations (`0001-name.sql`), one schema per service, under an advisory lock so that replicas may start together.
 * M1 an applied file never changes (its digest is kept); M2 numbers are dense; M3 all or nothing per file.
 */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

const FILE = /^(\d{4})-[a-z0-9-]+\.sql$/;

export function readMigrations(folder: URL | string): Migration[] {
  const directory = typeof folder === 'string' ? folder : fileURLToPath(folder);
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  names.forEach((name, index) => {
    const number = FILE.exec(name)?.[1];
    if (number === undefined || Number(number) !== index + 1) {
      throw new Error(
        `${path.join(directory, name)}: expected ${String(index + 1).padStart(4, '0')}-<name>.sql; numbers are dense`,
      );
    }
  });
  return names.map((name) => ({ name, sql: readFileSync(path.join(directory, name), 'utf8') }));
}

export const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('hex');

/** Those that every schema has, then the service's own. */
export function wantedMigrations(own: readonly Migration[]): Migration[] {
  const common = readMigrations(new URL('../../migrations/', import.meta.url)).map((m) => ({
    ...m,
    name: `common/${m.name}`,
  }));
  return [...common, ...own];
}

/** Brings the schema up to date. @throws when an applied migration was changed or is missing */
export async function migrate(database: Database, own: readonly Migration[]): Promise<void> {
  const wanted = wantedMigrations(own);
  if (await isCurrent(database, wanted)) return;
  await database.transaction(async (tx) => {
    await tx.query({
      text: `select pg_advisory_xact_lock(hashtextextended('countersign-migrate/' || $1, 0))`,
      values: [database.schema],
    });
    await tx.query({ text: `create schema if not exists ${database.schema}` });
    await tx.query({
      text: `create table if not exists migration (name text primary key, digest text not null, applied_at timestamptz not null default now())`,
    });
    const applied = new Map(
      (await tx.query<{ name: string; digest: string }>({ text: 'select name, digest from migration' })).map((r) => [
        r.name,
        r.digest,
      ]),
    );
    const unknown = [...applied.keys()].filter((name) => !wanted.some((m) => m.name === name));
    if (unknown.length > 0) {
      throw new CountersignError(
        'INVALID_ARGS',
        `The schema ${database.schema} was written by a newer version (it holds ${unknown.join(', ')}). Start that version, or use another database or data directory.`,
      );
    }
    for (const migration of wanted) await apply(tx, database.schema, migration, applied.get(migration.name));
  });
}

/** Looks without changing anything: a role that owns nothing may start on a schema that is up to date. */
async function isCurrent(database: Database, wanted: readonly Migration[]): Promise<boolean> {
  const [there] = await database.query<{ found: boolean }>({
    text: 'select to_regclass($1) is not null as found',
    values: [`${database.schema}.migration`],
  });
  if (!there!.found) return false;
  const applied = await database.query<{ name: string; digest: string }>({
    text: 'select name, digest from migration',
  });
  const digests = new Map(applied.map(({ name, digest }) => [name, digest]));
  return digests.size === wanted.length && wanted.every(({ name, sql }) => digests.get(name) === digestOf(sql));
}

async function apply(tx: Tx, schema: string, migration: Migration, digest: string | undefined): Promise<void> {
  if (digest === digestOf(migration.sql)) return;
  if (digest !== undefined)
    throw new CountersignError(
      'INVALID_ARGS',
      `The schema ${schema} was made by a version whose ${migration.name} differs from this one's (an applied migration is never changed between releases). ` +
        'Use another database or data directory (COUNTERSIGN_DATA_DIR, demo --data-dir), or delete the old one if nothing in it is needed.',
    );
  await tx.query({ text: migration.sql });
  await tx.query({
    text: 'insert into migration (name, digest) values ($1, $2)',
    values: [migration.name, digestOf(migration.sql)],
  });
}
