import { setTimeout as wait } from 'node:timers/promises';
import { ProviderFault, type ParseContext, type Provider, type ProviderRequest, type TurnAnswer } from '#providers';
import { backoffMs } from '../domain/backoff.ts';

export interface AskLimits {
  /** Attempts, first one included. */
  readonly attempts: number;
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
}

export type Unusable = Extract<TurnAnswer, { kind: 'unusable' }>;
export interface Asked {
  readonly answer: TurnAnswer;
  readonly attempts: number;
}

/**
 * Asks until there is an answer, trying again can no longer help, or the attempts are used up.
 * @throws the signal's reason when the work was given up
 */
export async function askProvider(
  provider: Provider,
  request: ProviderRequest,
  context: ParseContext,
  limits: AskLimits,
  signal: AbortSignal,
  random: () => number = Math.random,
): Promise<Asked> {
  for (let attempt = 1; ; attempt++) {
    const { answer, retryAfterMs } = await attemptOnce(provider, request, context, limits.timeoutMs, signal);
    signal.throwIfAborted();
    if (answer.kind === 'answered' || !answer.retryable) return { answer, attempts: attempt };
    if (attempt >= limits.attempts)
      return {
        answer: { ...answer, message: `${answer.message}; gave up after ${attempt} attempts` },
        attempts: attempt,
      };
    await wait(backoffMs(attempt, retryAfterMs, random()), undefined, { signal });
  }
}

async function attemptOnce(
  provider: Provider,
  request: ProviderRequest,
  context: ParseContext,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ answer: TurnAnswer; retryAfterMs: number | null }> {
  try {
    const raw = await provider.ask(request, { signal, timeoutMs });
    return { answer: provider.parse(raw, context), retryAfterMs: null };
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    const answer: Unusable = {
      kind: 'unusable',
      code: error.code,
      message: error.message,
      retryable: error.retryable,
      usage: { inputTokens: null, outputTokens: null },
    };
    return { answer, retryAfterMs: error.retryAfterMs };
  }
}
