import { verifyOverHttp, type AuditReport } from '#audit';
import type { ApiClient } from './api-client.ts';

interface AuditPage {
  readonly items: readonly unknown[];
  readonly next?: string | null;
}

export interface RunsAudit {
  /** Of these runs alone. */
  readonly records: number;
  /** Of all ledgers of the tenant: chains, completeness, signed heads. */
  readonly report: AuditReport;
}

/** Verifies the ledgers as an auditor would, once the runs are recorded to their end, and counts their records. */
export async function auditOfRuns(
  agent: ApiClient,
  gateway: string,
  credential: string,
  runIds: readonly string[],
): Promise<RunsAudit> {
  const report = await verifyOverHttp({ baseUrl: gateway, token: credential, runIds, settleMs: 20_000 });
  let records = 0;
  for (const runId of runIds) records += await recordsOf(agent, runId);
  return { records, report };
}

async function recordsOf(agent: ApiClient, runId: string): Promise<number> {
  let records = 0;
  for (let after: string | null | undefined = ''; after !== null && after !== undefined;) {
    const place: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
    const page: AuditPage = await agent.get<AuditPage>(`/v1/audit?runId=${runId}&limit=100${place}`);
    records += page.items.length;
    after = page.next;
  }
  return records;
}
