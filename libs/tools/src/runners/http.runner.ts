import { isRead, type ToolContract } from '#contracts';
import { callError } from '../call-error.ts';
import { failureText } from './failure-text.ts';
import { classifyAnswer, classifyLost } from './http-answer.ts';
import { exchange, type Agents } from './http-exchange.ts';
import { buildRequest, UnsendableRequest, type BuiltRequest } from './http-request.ts';
import { HARD_CAP_BYTES, type FailedOutcome, type RunOutcome, type RunRequest } from './runner.port.ts';

export interface HttpRunnerOptions {
  readonly agents: Agents;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Bytes; default HARD_CAP_BYTES. */
  readonly capBytes?: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

type HttpExecution = Extract<ToolContract['execution'], { kind: 'http' }>;

/** One HTTP exchange. See R1–R5 of the port. */
export async function runHttp(
  execution: HttpExecution,
  request: RunRequest,
  options: HttpRunnerOptions,
): Promise<RunOutcome> {
  const built = build(execution, request, options);
  if ('kind' in built) return built;
  const result = await exchange(built, {
    agents: options.agents,
    timeoutMs: request.contract.timeoutMs,
    capBytes: options.capBytes ?? HARD_CAP_BYTES,
    signal: request.signal,
    onStop: (listener) =>
      isRead(request.contract) ? request.stop?.whenAsked(listener) : request.stop?.whenOver(listener),
  });
  if (result.kind === 'lost') return classifyLost(request.contract, result);
  return classifyAnswer(request.contract, result, { secrets: options.secrets, nowMs: options.now() });
}

function build(
  execution: HttpExecution,
  request: RunRequest,
  options: HttpRunnerOptions,
): BuiltRequest | FailedOutcome {
  try {
    const built = buildRequest(request, execution, options.env);
    if (request.signal.aborted) return notSent(callError('CANCELLED', 'the call was stopped before it was sent'));
    request.onSending();
    return built;
  } catch (error) {
    if (error instanceof UnsendableRequest) return notSent(callError(error.code, error.message, { retryable: false }));
    return notSent(callError('CANCELLED', failureText(error, options.secrets)));
  }
}

const notSent = (error: FailedOutcome['error']): FailedOutcome => ({
  kind: 'failed',
  sent: 'not_sent',
  noEffect: true,
  error,
});
