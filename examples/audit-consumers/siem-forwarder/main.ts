import { setTimeout as pause } from 'node:timers/promises';
import { followAudit } from '../follow-audit.ts';
import { PositionsFile } from '../positions-file.ts';
import { consumerArguments, endOnSignal } from '../run-consumer.ts';

/**
 * Sends records to a collector over HTTP, as lines of JSON. The collector may get one twice (it took it, and its answer was
 * lost): the `id` of a record never changes, tell repeats by it. Faults come as events of their own.
 */
const LINES = 500;
const MOST_PAUSE_MS = 10_000;

const { state, to, ...options } = consumerArguments('siem-forwarder');
const file = await PositionsFile.open(state);
endOnSignal(
  await followAudit({
    ...options,
    positions: file.positions,
    async take({ records, faults }, alive) {
      for (let at = 0; at < records.length; at += LINES) {
        const some = records.slice(at, at + LINES);
        await deliver(
          some.map(({ text }) => text),
          alive,
        );
        await file.advance(some);
      }
      const alarms = faults.map((fault) => JSON.stringify({ type: 'countersign.audit.fault', ...fault }));
      if (alarms.length > 0) await deliver(alarms, alive);
    },
  }),
);

/** A collector that is away is asked again until it is back. */
async function deliver(lines: readonly string[], alive: () => Promise<void>): Promise<void> {
  for (let wait = 100; ; wait = Math.min(wait * 2, MOST_PAUSE_MS)) {
    const answer = await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${lines.join('\n')}\n`,
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null);
    if (answer?.ok) return;
    await alive();
    await pause(wait);
  }
}
