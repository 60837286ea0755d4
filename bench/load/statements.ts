import pg from 'pg';

/** Counts statements by `pg_stat_statements`, which the bench's own PostgreSQL preloads. */
export interface StatementCounter {
  /** Statements since the server started, transaction control included. */
  count(): Promise<number>;
  top(limit: number): Promise<{ query: string; calls: number; ms: number }[]>;
  close(): Promise<void>;
}

export const STATEMENT_SETTINGS = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'top' };

export async function openStatementCounter(url: string): Promise<StatementCounter> {
  const client = new pg.Client(url);
  client.on('error', () => undefined); // the server ends before us when the bench is interrupted
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  return {
    count: async () =>
      Number(
        (await client.query<{ n: string }>('select coalesce(sum(calls), 0) n from pg_stat_statements')).rows[0]!.n,
      ),
    top: async (limit) =>
      (
        await client.query<{ query: string; calls: string; ms: number }>(
          'select left(query, 120) query, calls, total_exec_time ms from pg_stat_statements order by total_exec_time desc limit $1',
          [limit],
        )
      ).rows.map((row) => ({ ...row, calls: Number(row.calls) })),
    close: () => client.end(),
  };
}
