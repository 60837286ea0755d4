import { ledgerName } from '#contracts';
import type { Tx } from '#persistence';
import { chainEvents, type AuditRecord, type PreparedEntry } from '../domain/chain-events.ts';
import { findRecorded } from './find-recorded.query.ts';
import { insertRecords } from './insert-records.query.ts';
import { lockLedgers } from './lock-ledgers.query.ts';

export interface Recorded {
  /** To be published. */
  readonly records: readonly AuditRecord[];
  /** Entries whose ledgers could not be had without waiting. */
  readonly left: readonly PreparedEntry[];
}

/**
 * Appends what is not yet recorded to its ledger. A ledger's row is locked first, so that what another replica recorded is seen,
 * and numbers stay dense.
 */
export async function recordEvents(
  tx: Tx,
  entries: readonly PreparedEntry[],
  wait: 'wait' | 'skip',
): Promise<Recorded> {
  const byLedger = Map.groupBy(entries, ({ entry, partition }) => ledgerName({ tenant: entry.tenant, partition }));
  const ledgers = [...byLedger.values()].map((own) => ({ tenant: own[0]!.entry.tenant, partition: own[0]!.partition }));
  ledgers.sort((a, b) => (a.tenant === b.tenant ? a.partition - b.partition : a.tenant < b.tenant ? -1 : 1));
  const states = await lockLedgers(tx, ledgers, wait);
  const taken = new Map(states.map((state) => [state, byLedger.get(ledgerName(state))!]));
  const recorded = await findRecorded(
    tx,
    [...taken.values()].flat().map(({ entry }) => entry.id),
  );
  const chained = [...taken]
    .map(([state, own]) =>
      chainEvents(
        state,
        own.filter(({ entry }) => !recorded.has(entry.id)),
      ),
    )
    .filter(({ records }) => records.length > 0);
  const records = chained.flatMap((chain) => chain.records);
  if (records.length > 0)
    await tx.last(() =>
      insertRecords(
        tx,
        records,
        chained.map(({ state }) => state),
      ),
    );
  const held = new Set(states.map(ledgerName));
  return { records, left: [...byLedger].flatMap(([name, own]) => (held.has(name) ? [] : own)) };
}
