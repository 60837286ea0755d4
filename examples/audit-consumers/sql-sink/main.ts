import type { LedgerPosition } from 'countersign/audit';
import pg from 'pg';
import { followAudit } from '../follow-audit.ts';
import { consumerArguments, endOnSignal } from '../run-consumer.ts';
import { databaseUrl } from './sink.config.ts';

/** Keeps records in PostgreSQL, each once: the table itself says how far each ledger was taken. */
const TABLES = `
  create table if not exists audit_event (
    ledger text not null,
    sequence bigint not null,
    digest text not null,
    -- the bytes of the record, as they were published: they can be verified again from here
    event text not null,
    primary key (ledger, sequence)
  );
  create table if not exists audit_fault (
    found_at timestamptz not null default now(),
    kind text not null,
    ledger text not null,
    sequence bigint not null,
    detail text not null
  )`;

const connectionString = databaseUrl();
if (connectionString === undefined) {
  console.error('AUDIT_SINK_DATABASE_URL is not set; give a PostgreSQL of its own, not that of the services');
  process.exit(2);
}
const client = new pg.Client({ connectionString });
client.on('error', (error) => {
  console.error(`the database is lost: ${error.message}`);
  process.exit(1);
});
await client.connect();
await client.query(TABLES);
const { rows } = await client.query<{ ledger: string; sequence: string; digest: string }>(
  'select distinct on (ledger) ledger, sequence, digest from audit_event order by ledger, sequence desc',
);
const positions = rows.map((row): LedgerPosition => ({ ...row, sequence: Number(row.sequence) }));
const end = await followAudit({
  ...consumerArguments('sql-sink'),
  positions,
  async take({ records, faults }) {
    await client.query('begin');
    await client.query(
      `insert into audit_event (ledger, sequence, digest, event)
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) on conflict do nothing`,
      [
        records.map(({ ledger }) => ledger),
        records.map(({ sequence }) => sequence),
        records.map(({ digest }) => digest),
        records.map(({ text }) => text),
      ],
    );
    for (const { kind, ledger, sequence, detail } of faults)
      await client.query('insert into audit_fault (kind, ledger, sequence, detail) values ($1, $2, $3, $4)', [
        kind,
        ledger,
        sequence,
        detail,
      ]);
    await client.query('commit');
  },
});
endOnSignal(async () => {
  await end();
  await client.end();
});
