import type { Sql } from '#persistence';
import type { StoredCall } from '../domain/show-views.ts';

export interface CallsQuestion {
  readonly tenant: string;
  readonly limit: number;
  /** The last call id of the page before. */
  readonly after?: string | undefined;
  readonly runId?: string | undefined;
  readonly status?: string | undefined;
  /** `ns.name` for all versions, or `ns.name@version`. */
  readonly tool?: string | undefined;
  readonly principal?: string | undefined;
}

/** Newest first, without results. */
export const listCalls = (sql: Sql, question: CallsQuestion): Promise<StoredCall[]> =>
  sql.query<StoredCall>({
    name: question.runId === undefined ? 'list-calls' : 'list-calls-of-run',
    text: `select c.tenant, c.call_id, c.run_id, c.status, c.principal, c.provider_call_id, c.tool, c.contract_digest, c.approval_id,
                  c.settled_by, c.effect, c.replayed, c.attempts, c.duration_ms, c.error_code, null as error, null as result,
                  c.resource_ids, c.settled_at, c.reconciliation, c.cancellation, c.undoes
             from call_view c
            where c.tenant = $1
              and ($3::text is null or (c.first_seen, c.call_id) < (select a.first_seen, a.call_id from call_view a where a.tenant = $1 and a.call_id = $3))
              and ${question.runId === undefined ? '$4::text is null' : 'c.run_id = $4'}
              and ($5::text is null or c.status = $5)
              and ($6::text is null or c.tool = $6 or starts_with(c.tool, $6 || '@'))
              and ($7::text is null or c.principal = $7)
            order by c.first_seen desc, c.call_id desc
            limit $2`,
    values: [
      question.tenant,
      question.limit,
      question.after ?? null,
      question.runId ?? null,
      question.status ?? null,
      question.tool ?? null,
      question.principal ?? null,
    ],
  });
