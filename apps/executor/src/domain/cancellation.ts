import {
  callSettledSchema,
  message,
  outgoing,
  settledTopic,
  type Cancellation,
  type Message,
  type OutgoingMessage,
} from '#contracts';
import { derivedId } from '#kernel';
import { executorError, unknownEnding, type Ending } from './settlement.ts';
import type { RunOutcome } from './tool-runner.port.ts';

/**
 * Cancellation of a granted call.
 *
 *   the call is            a cancellation makes it               and says
 *   not here yet, returned cancelled; silent until a grant comes nothing_happened / not_begun, when it comes
 *   queued                 cancelled and settled                 nothing_happened / not_begun
 *   intended, not sent     failed, no effect                     nothing_happened / not_sent
 *   at the tool            asked to stop, for a grace time;      acknowledged, completed_anyway or unknown:
 *                          then its connection is cut            what the attempt itself proves
 *   left by a dead owner   never run again                       unknown / no_answer (a read: acknowledged)
 *   settled                as it is                              a CallCancellation: settled_before
 *
 * K1 a cancellation and an intent of the same call write the same row: exactly one of them wins.
 * K2 what is cancelled before its intent never begins, however often and late its grant comes.
 * K3 after the intent the settlement is what is true; the cancellation is a field beside it, in the same commit.
 * K4 nothing is repeated once a call is to stop: an attempt that may have had its effect ends as unknown.
 * K5 only who holds the right to settle settles: before its grant comes a cancelled call says nothing.
 */
type Said = Omit<Cancellation, 'at'>;

const cancelledError = () => executorError('CANCELLED');
const base = { replayed: false, durationMs: 0, result: null } as const;

/** Before the intent: it has not begun and never will. */
export const cancelledEnding = (): Ending => ({
  ...base,
  status: 'cancelled',
  effect: 'none',
  attempts: 0,
  error: cancelledError(),
  cancellation: { state: 'nothing_happened', evidence: 'not_begun' },
});

/** A dead owner may have sent it, and it is not to be run again. */
export const abandonedEnding = (write: boolean, attempts: number): Ending =>
  write
    ? { ...unknownEnding(attempts), cancellation: { state: 'unknown', evidence: 'no_answer' } }
    : {
        ...base,
        status: 'failed',
        effect: 'none',
        attempts,
        error: cancelledError(),
        cancellation: { state: 'acknowledged', evidence: 'read_stopped' },
      };

/** Where a stopped call would be tried again, it ends (K4). */
export function insteadOfRepeat(maybe: boolean): { kind: 'unknown' } | { kind: 'failed'; error: Ending['error'] & {} } {
  return maybe ? { kind: 'unknown' } : { kind: 'failed', error: cancelledError() };
}

/** What the last attempt of a stopped call proves. */
export function saidOf(status: Ending['status'], write: boolean, outcome: RunOutcome): Said {
  if (status === 'succeeded') return { state: 'completed_anyway', evidence: 'tool_answered' };
  if (status === 'outcome_unknown') return { state: 'unknown', evidence: 'no_answer' };
  const sent = outcome.kind === 'failed' ? outcome.sent : 'answered';
  if (sent === 'not_sent') return { state: 'nothing_happened', evidence: 'not_sent' };
  if (sent === 'answered') return { state: 'acknowledged', evidence: 'tool_vouched' };
  return write ? { state: 'unknown', evidence: 'no_answer' } : { state: 'acknowledged', evidence: 'read_stopped' };
}

/** What the probe of a stopped call proves. */
export function saidByProbe(status: Ending['status']): Said {
  if (status === 'succeeded') return { state: 'completed_anyway', evidence: 'tool_answered' };
  return status === 'outcome_unknown'
    ? { state: 'unknown', evidence: 'no_answer' }
    : { state: 'acknowledged', evidence: 'tool_vouched' };
}

const AFTER: Readonly<Record<string, Said['state']>> = {
  succeeded: 'completed_anyway',
  outcome_unknown: 'unknown',
};

/** The answer to a cancellation that came too late; null where the settlement itself holds one. */
export function lateCancellation(
  command: Message<'CancelGranted'>,
  stored: string,
  pool: string,
  nowMs: number,
): OutgoingMessage | null {
  const { status, cancellation } = callSettledSchema.parse((JSON.parse(stored) as { data: unknown }).data);
  if (cancellation) return null;
  const context = {
    tenant: command.tenant,
    runId: command.runId!,
    callId: command.callId!,
    causationId: command.id,
    correlationId: command.correlationId,
    now: nowMs,
    id: derivedId('msg', 'cancellation', command.callId!),
  };
  const state = AFTER[status] ?? 'nothing_happened';
  const data = { state, evidence: 'settled_before', at: new Date(nowMs).toISOString() } as const;
  return outgoing(settledTopic(pool), message('CallCancellation', context, data));
}
