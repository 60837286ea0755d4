import type { ResultViews } from '#contracts';
import { notAppliedError } from './finding.ts';
import { unknownEnding, type Ending } from './settlement.ts';
import type { ProbeOutcome } from './tool-runner.port.ts';

type Kind = ProbeOutcome['kind'];

/** As for a lost answer: a write that is proved not to have happened gets a second try whatever its contract says. */
const TRIES_OF_A_LOST_ANSWER = 2;

/** No further look can change it. A write that is not final may still arrive. */
export const isCertain = (kind: Kind, final: boolean): boolean =>
  kind === 'applied' || kind === 'partly' || (kind === 'not_applied' && final);

/**
 * What follows a probe of a maybe-sent write (safety.md, "After a crash or timeout").
 * `again` only where "not applied" is final: the earlier attempts can no longer have their effect.
 */
export function afterProbe(
  kind: Kind,
  { final, made, allowed }: { readonly final: boolean; readonly made: number; readonly allowed: number },
): 'applied' | 'again' | 'not_applied' | 'unknown' {
  if (kind === 'applied') return 'applied';
  if (kind !== 'not_applied' || !final) return 'unknown';
  return made < Math.max(allowed, TRIES_OF_A_LOST_ANSWER) ? 'again' : 'not_applied';
}

export function endingOfProbe(
  after: 'applied' | 'not_applied' | 'unknown',
  result: ResultViews | null,
  attempts: number,
  durationMs: number,
): Ending {
  const base = { replayed: false, attempts, durationMs } as const;
  if (after === 'unknown') return unknownEnding(attempts, durationMs, true);
  if (after === 'applied') return { ...base, status: 'succeeded', effect: 'applied', error: null, result };
  return { ...base, status: 'failed', effect: 'none', error: notAppliedError(), result: null };
}
