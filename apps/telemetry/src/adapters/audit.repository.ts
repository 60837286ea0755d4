import type { Tx } from '#persistence';
import type { AuditEntry } from '../domain/audit-entries.ts';
import { chainEvents, type AuditRecord } from '../domain/chain-events.ts';
import { findRecorded } from './find-recorded.query.ts';
import { insertRecords } from './insert-records.query.ts';
import { lockLedgers } from './lock-ledgers.query.ts';

/**
 * Appends what is not yet recorded to its tenant's ledger; answers what is to be published. The ledger's row is locked
 * first, so that what another replica recorded is seen, and numbers stay dense.
 */
export async function recordEvents(tx: Tx, entries: readonly AuditEntry[]): Promise<AuditRecord[]> {
  const byTenant = Map.groupBy(entries, (entry) => entry.tenant);
  const heads = await lockLedgers(tx, [...byTenant.keys()].sort());
  const recorded = await findRecorded(
    tx,
    entries.map((entry) => entry.id),
  );
  const chained = heads.map((head) =>
    chainEvents(
      head,
      byTenant.get(head.tenant)!.filter((entry) => !recorded.has(entry.id)),
    ),
  );
  const records = chained.flatMap((chain) => chain.records);
  if (records.length === 0) return [];
  await insertRecords(
    tx,
    records,
    chained.filter((chain) => chain.records.length > 0).map((chain) => chain.head),
  );
  return records;
}
