import type { RunOutcome } from '#contracts';
import { isOut, isReplaced, isSettled, isUnknown, type Call } from './call-state.ts';

/**
 * What the journal holds of a run, whatever the model says (G9), read from top to bottom:
 * unknown (or still out when the run had to end) → some_unknown; a call failed or was applied in part → some_failed; no write succeeded →
 * no_effects; a write was denied, expired or dropped beside one that succeeded → some_failed; else all_succeeded.
 * A call that was made with other arguments does not count: the one in its place does. Undos do not count: what became of them is the run's `compensation`.
 * Proposals that never fitted their contract do not count: a model may correct them.
 */
export function outcomeOf(all: readonly Call[]): RunOutcome {
  const calls = all.filter((call) => call.effectClass !== 'undo' && !isReplaced(call));
  const settled = calls.filter(isSettled);
  if (calls.some(isOut) || calls.some(isUnknown)) return 'some_unknown';
  if (settled.some(({ status }) => status === 'failed' || status === 'partially_applied')) return 'some_failed';
  const writes = settled.filter((call) => call.effectClass !== 'read' && !isCorrectable(call.errorCode));
  if (!writes.some((call) => call.status === 'succeeded')) return 'no_effects';
  return writes.every((call) => call.status === 'succeeded') ? 'all_succeeded' : 'some_failed';
}

const CORRECTABLE = new Set(['INVALID_JSON', 'INVALID_ARGS', 'UNKNOWN_TOOL', 'TOOL_NOT_ALLOWED']);
const isCorrectable = (code: string | null): boolean => code !== null && CORRECTABLE.has(code);

/** Writes that did not come to a good end; a later success of the same tool makes up for one. */
export const hasLostWrite = (calls: readonly Call[]): boolean =>
  calls.some(
    (call, index) =>
      call.effectClass === 'call' &&
      !isReplaced(call) &&
      !(isSettled(call) && (call.status === 'succeeded' || isCorrectable(call.errorCode))) &&
      !calls
        .slice(index + 1)
        .some((later) => isSettled(later) && later.tool === call.tool && later.status === 'succeeded'),
  );
