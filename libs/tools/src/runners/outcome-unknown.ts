import { callError } from '../call-error.ts';
import type { FailedOutcome } from './runner.port.ts';

/** A write that was sent and whose end nobody can tell: never a failure, never repeated blindly (G5, G9). */
export function outcomeUnknown(
  text: string,
  more: { readonly retryAfterMs?: number | null; readonly raw?: Buffer } = {},
): FailedOutcome {
  return {
    kind: 'failed',
    sent: 'maybe_sent',
    noEffect: false,
    error: callError('OUTCOME_UNKNOWN', text, { retryable: false, retryAfterMs: more.retryAfterMs ?? null }),
    ...(more.raw === undefined ? {} : { raw: more.raw }),
  };
}
