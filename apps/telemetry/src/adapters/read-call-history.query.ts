import type { Sql } from '#persistence';

/** Records of the call's run that name the call: its own, those of its undos, and what people said of it. In time order. */
export const readCallHistory = (
  sql: Sql,
  question: { readonly tenant: string; readonly runId: string; readonly callId: string; readonly limit: number },
): Promise<{ event: string }[]> =>
  sql.query({
    name: 'read-call-history',
    text: `select event from audit_record
            where tenant = $1 and run_id = $2 and (call_id = $3 or strpos(event, $3) > 0)
            order by recorded_at, part, seq limit $4`,
    values: [question.tenant, question.runId, question.callId, question.limit],
  });
