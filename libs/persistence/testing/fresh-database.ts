import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface FreshDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database of its own on the test run's PostgreSQL. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const admin = process.env.TEST_DATABASE_URL;
  if (!admin) throw new Error('TEST_DATABASE_URL is not set: run the tests by "npm test"');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await once(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => once(admin, `drop database if exists ${name} with (force)`) };
}

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
