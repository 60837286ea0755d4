import { cursorAfter, readCursor, writeCursor, type AuditCursor } from '#contracts';
import type { AuditReport } from './audit-report.ts';
import type { Checkpoint } from './checkpoint.ts';
import { AuditVerifier } from './verify-audit.ts';

/** One GET of the API: a path with its query → the JSON of the answer. Throws when there is none. */
export type FetchJson = (path: string) => Promise<unknown>;

export interface VerifyPagesOptions {
  /** Runs that must be recorded to their end; verification waits for them. */
  readonly runIds?: readonly string[];
  /** Keys that the auditor trusts already; absent = those that the service names. */
  readonly keys?: readonly unknown[];
  /** Checkpoints that the auditor kept, beside those that the service gives. */
  readonly checkpoints?: readonly (Checkpoint | string)[];
  /**
   * Milliseconds to wait, at most, for records that are on their way (a run's end may be recorded before its last call);
   * default 10,000.
   */
  readonly settleMs?: number;
  /** Told after each page. */
  readonly onProgress?: (records: number) => void;
}

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | null;
}

const PAGE = 500;
const LOOK_MS = 100;

/**
 * Verifies the ledgers of whoever `fetchJson` speaks for. Checkpoints are read before records, so that they never are ahead.
 * @throws what `fetchJson` throws
 */
export async function verifyTenant(fetchJson: FetchJson, options: VerifyPagesOptions = {}): Promise<AuditReport> {
  const keys = options.keys ?? ((await fetchJson('/v1/audit/keys')) as { keys: unknown[] }).keys;
  const checkpoints = [...(options.checkpoints ?? []), ...(await readCheckpoints(fetchJson))];
  const verifier = new AuditVerifier({ keys, checkpoints, runIds: options.runIds ?? [] });
  const end = performance.now() + (options.settleMs ?? 10_000);
  let cursor: AuditCursor = new Map();
  let records = 0;
  for (;;) {
    const after = cursor.size === 0 ? '' : `&after=${writeCursor(cursor)}`;
    const page = (await fetchJson(`/v1/audit?limit=${PAGE}${after}`)) as Page;
    for (const item of page.items) verifier.addEvent(item);
    records += page.items.length;
    options.onProgress?.(records);
    cursor = page.next === null ? cursorAfter(cursor, page.items) : readCursor(page.next);
    if (page.next !== null) continue;
    if (verifier.isComplete() || performance.now() >= end) return verifier.conclude();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function readCheckpoints(fetchJson: FetchJson): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = [];
  for (let after: string | null = '0'; after !== null;) {
    const page = (await fetchJson(`/v1/audit/checkpoints?limit=${PAGE}&after=${after}`)) as Page;
    checkpoints.push(...(page.items as Checkpoint[]));
    after = page.next;
  }
  return checkpoints;
}
