import type { Sql } from '#persistence';
import type { StoredCall } from '../domain/show-views.ts';

export const readCall = async (sql: Sql, tenant: string, callId: string): Promise<StoredCall | undefined> =>
  (
    await sql.query<StoredCall>({
      name: 'read-call',
      text: 'select * from call_view where tenant = $1 and call_id = $2',
      values: [tenant, callId],
    })
  )[0];

/** In the order in which they were first seen. */
export const readCallsOfRuns = (sql: Sql, tenant: string, runIds: readonly string[]): Promise<StoredCall[]> =>
  sql.query<StoredCall>({
    name: 'read-calls-of-runs',
    text: `select * from call_view where tenant = $1 and run_id = any($2::text[]) order by first_seen, call_id`,
    values: [tenant, runIds],
  });
