import { RepeatedLook, type Log } from '#runtime';
import type { JournalRepository } from '../adapters/journal.repository.ts';
import { shrinkRecord } from '../domain/shrink-record.ts';

const LIMIT = 200;
const MAX_EVERY_MS = 3_600_000;

export interface RetentionOptions {
  readonly journal: JournalRepository;
  readonly log: Log;
  readonly pool: string;
  /** Milliseconds for which arguments and results are kept after the settlement. */
  readonly keepMs: number;
}

/** Walks the whole records now and then, and shrinks those whose time is over (J16). Replicas may walk at once. */
export const retention = (options: RetentionOptions): RepeatedLook =>
  new RepeatedLook({
    everyMs: Math.min(MAX_EVERY_MS, Math.ceil(options.keepMs / 4)),
    atOnce: false,
    log: options.log,
    failed: 'old payloads could not be removed',
    look: (state) => walk(options, state),
  });

async function walk(
  { journal, pool, keepMs, log }: RetentionOptions,
  state: { readonly stopped: boolean },
): Promise<void> {
  let shrunk = 0;
  for (let after = ''; !state.stopped;) {
    const records = await journal.whole(pool, after, LIMIT, keepMs);
    const over = records.flatMap(({ callId, settlement }) =>
      settlement === null ? [] : [{ callId, settlement: shrinkRecord(settlement) }],
    );
    if (over.length > 0) shrunk += await journal.shrink(pool, over);
    if (records.length < LIMIT) break;
    after = records.at(-1)!.callId;
  }
  if (shrunk > 0) log.info({ pool, records: shrunk }, 'payloads that were kept for long enough are gone');
}
