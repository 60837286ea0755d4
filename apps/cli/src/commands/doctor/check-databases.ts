import path from 'node:path';
import type { Database } from '#persistence';
import type { Environment } from '#runtime';
import { wrong, type Finding } from './finding.ts';

const SETTING = 'COUNTERSIGN_DATABASE_URL';
const MAX_SKEW_MS = 1_000;
const APPS = path.resolve(import.meta.dirname, '../../../..');

/** Reachable, every schema as this version needs it, and its clock beside ours. */
export async function checkDatabases(env: Environment): Promise<Finding[]> {
  const check = 'database';
  const url = env[SETTING];
  if (!url)
    return [
      { check, state: 'skipped', found: `${SETTING} is not set: a process of its own brings an embedded PostgreSQL` },
    ];
  const { checkDatabase, SERVICE_NAMES } = await import('#runtime');
  const { Database } = await import('#persistence');
  try {
    await checkDatabase(SETTING, url);
  } catch (error) {
    return [wrong(check, error, `start PostgreSQL, or correct ${SETTING}`)];
  }
  const findings: Finding[] = [];
  for (const name of SERVICE_NAMES) {
    const own = env[`COUNTERSIGN_${name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`];
    const database = new Database({ url: own ?? url, schema: name.replaceAll('-', '_'), max: 1 });
    try {
      if (findings.length === 0) findings.push(await versionOf(database), await skewOf(database));
      findings.push(await migrationsOf(database, name));
    } catch (error) {
      findings.push(wrong(`${name} schema`, error, 'see that the user may read this schema'));
    } finally {
      await database.close();
    }
  }
  return merged(findings);
}

async function versionOf(database: Database): Promise<Finding> {
  const [row] = await database.query<{ version: string }>({
    text: `select current_setting('server_version') as version`,
  });
  return { check: 'database', state: 'ok', found: `PostgreSQL ${row!.version} answers` };
}

/** Leases and expiries are judged by the database's clock; approvals and grants by those of the processes. */
async function skewOf(database: Database): Promise<Finding> {
  const began = Date.now();
  const [row] = await database.query<{ now: number }>({
    text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  });
  const ended = Date.now();
  const skewMs = Math.round(row!.now - (began + ended) / 2);
  const check = 'clock';
  const found = `this machine and the database differ by ${Math.abs(skewMs)} ms`;
  return Math.abs(skewMs) - (ended - began) / 2 <= MAX_SKEW_MS
    ? { check, state: 'ok', found }
    : { check, state: 'wrong', found, remedy: 'synchronize both clocks (NTP): grants and approvals expire by them' };
}

async function migrationsOf(database: Database, name: string): Promise<Finding> {
  const { migrationState, readMigrations } = await import('#persistence');
  const check = `${name} schema`;
  const { pending, changed, unknown } = await migrationState(
    database,
    readMigrations(path.join(APPS, name, 'src/migrations')),
  );
  if (changed.length > 0)
    return {
      check,
      state: 'wrong',
      found: `made by a version whose ${changed.join(', ')} differs`,
      remedy: 'use another database, or drop this schema if nothing in it is needed',
    };
  if (unknown.length > 0)
    return {
      check,
      state: 'wrong',
      found: `written by a newer version (${unknown.join(', ')})`,
      remedy: 'start that version, or use another database',
    };
  return pending.length === 0
    ? { check, state: 'ok', found: 'as this version needs it' }
    : { check, state: 'ok', found: `${pending.length} migrations will be applied when the service starts` };
}

/** Seven schemas that are all well need one line. */
function merged(findings: readonly Finding[]): Finding[] {
  const schemas = findings.filter(({ check }) => check.endsWith(' schema'));
  const first = schemas[0];
  if (!first || !schemas.every(({ state, found }) => state === 'ok' && found === first.found)) return [...findings];
  return [
    ...findings.filter((finding) => !schemas.includes(finding)),
    { check: 'schemas', state: 'ok', found: `all ${schemas.length} services: ${first.found}` },
  ];
}
