import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { verifyOverHttp } from '#audit';
import { ask } from '../e2e/system.ts';
import type { Evidence, JournalRow } from './checker.ts';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';

const AUDIT_MS = 60_000;
const VIEW_MS = 30_000;
const ENDS = new Set(['succeeded', 'failed', 'denied', 'expired', 'cancelled', 'rejected', 'outcome_unknown']);

/** Everything that the checker judges by; each call is asked for once more, whatever its caller was told. */
export async function gatherEvidence(installation: Installation, load: Load): Promise<Evidence> {
  for (const operation of load.operations) {
    if (operation.kind !== 'call' || operation.callId === undefined || operation.told.length === 0) continue;
    const { status, effect } = await shown(installation, operation.callId);
    operation.told.push({ status, effect, code: operation.told.at(-1)!.code });
  }
  const client = new pg.Client(installation.databaseUrl);
  await client.connect();
  try {
    const calls = await client.query<JournalRow>(
      `select c.call_id as "callId",
              case when r.state in ('succeeded', 'failed') then r.state else c.state end as state
         from executor.call c left join executor.reconciliation r using (call_id)`,
    );
    const holds = await client.query<{ resource: string }>(
      `select h.resource from executor.resource_hold h join executor.call c on c.call_id = h.holder
        where c.state in ('succeeded', 'failed', 'returned')`,
    );
    const runIds = load.operations.flatMap(({ runId, settledAt }) => (runId && settledAt !== null ? [runId] : []));
    const report = await verifyOverHttp({
      baseUrl: installation.gateway,
      token: 'dev.dev.ann.auditor',
      runIds,
      settleMs: AUDIT_MS,
    });
    return {
      operations: load.operations,
      sink: await installation.sink(),
      journal: new Map(calls.rows.map((row) => [row.callId, row])),
      orphanHolds: holds.rows.map(({ resource }) => resource),
      audit: report.faults.map(({ kind, ledger, sequence, detail }) => `${kind} ${ledger}#${sequence}: ${detail}`),
    };
  } finally {
    await client.end();
  }
}

/** As the API shows the call once its view has caught up. */
async function shown({ gateway }: Installation, callId: string): Promise<{ status: string; effect: string | null }> {
  for (const end = performance.now() + VIEW_MS; ; await pause(100)) {
    const { status, body } = await ask<{ status: string; effect: string | null }>(
      { gateway },
      'alice',
      'GET',
      `/v1/calls/${callId}`,
    );
    if ((status === 200 && ENDS.has(body.status)) || performance.now() > end) return body;
  }
}
