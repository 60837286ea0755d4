import { InfrastructureError } from '#kernel';
import { endIsHeld, isOver, tellNext, type RunEvent } from '../domain/run-events.ts';
import { UNKNOWN, type RunProgress } from '../domain/run-progress.ts';
import type { Told } from '../domain/stream-cursor.ts';
import type { RunStream } from './run-streams.ts';

/** Stored state is read again: soon after the start, for what passed before it was written there, then at this pace. */
const FIRST_LOOKS_MS = [100, 400, 1_500];
const LOOK_MS = 10_000;
/** While the end of the run waits for its calls, and how long it does at most. */
const HELD_LOOK_MS = 50;
const HELD_MS = 5_000;

export interface Watching {
  readonly runId: string;
  /** What the reader has been told; advanced as it goes. */
  readonly told: Told;
  /** It has learned stored state since it was opened. */
  readonly stream: RunStream;
  load(): Promise<RunProgress>;
  readonly heartbeatMs: number;
}

/**
 * What happens in a run, in portions, as it happens; an empty portion is a sign of life. Ends after run.ended, and when
 * the stream is ended from outside.
 */
export async function* watchRun(watching: Watching): AsyncGenerator<readonly RunEvent[]> {
  const { runId, told, stream, heartbeatMs } = watching;
  let looks = 0;
  let heldSince: number | null = null;
  let lookAt = performance.now() + FIRST_LOOKS_MS[0]!;
  let beatAt = performance.now() + heartbeatMs;
  for (;;) {
    const now = performance.now();
    const { known } = stream;
    const events = tellNext(runId, told, known, heldSince !== null && now - heldSince >= HELD_MS);
    if (events.length > 0 || now >= beatAt) {
      yield events;
      beatAt = performance.now() + heartbeatMs;
    }
    if (isOver(told, stream.known) || stream.ended) return;
    if (!endIsHeld(told, known)) heldSince = null;
    else {
      heldSince ??= now;
      lookAt = Math.min(lookAt, now + HELD_LOOK_MS);
    }
    await stream.next(Math.min(lookAt, beatAt) - performance.now());
    if (performance.now() < lookAt || stream.ended) continue;
    stream.learn(await watching.load().catch(nothingNew));
    lookAt = performance.now() + (FIRST_LOOKS_MS[++looks] ?? LOOK_MS);
  }
}

/** A read port that is away is asked again later. */
function nothingNew(error: unknown): RunProgress {
  if (error instanceof InfrastructureError) return UNKNOWN;
  throw error;
}
