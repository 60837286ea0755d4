import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from '#contracts';
import type { View } from '../domain/views.ts';
import type { RunViews } from './run-views.ts';

/** The views follow the events by moments. */
const PAUSES_MS = [0, 5, 10, 20, 40, 80, 160, 320, 640];

/** The view of a run that is known to have ended; what the event itself says where the views stay behind. */
export async function endedView(
  views: RunViews,
  tenant: string,
  runId: string,
  found: Message<'RunEnded'> | View,
): Promise<View> {
  if (!isEvent(found)) return found;
  for (const pause of PAUSES_MS) {
    if (pause > 0) await delay(pause);
    const view = await views.endedRun(tenant, runId);
    if (view && !isOfEarlierEnd(view, found)) return view;
  }
  const { status, outcome, cause, answer, turns } = found.data;
  const known = await views.run(tenant, runId).catch(() => null);
  return { calls: [], effects: [], ...known, runId, status, outcome, cause, answer, turns, endedAt: found.occurredAt };
}

const isEvent = (found: Message<'RunEnded'> | View): found is Message<'RunEnded'> =>
  (found as { type?: unknown }).type === 'RunEnded';

/** A run that was resumed has ended before. */
const isOfEarlierEnd = (view: View, { occurredAt }: Message<'RunEnded'>): boolean =>
  typeof view.endedAt === 'string' && Date.parse(view.endedAt) < Date.parse(occurredAt);
