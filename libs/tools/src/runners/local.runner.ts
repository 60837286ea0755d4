import { isRead, type ToolContract } from '#contracts';
import { ERROR_CODES, type ErrorCode } from '#kernel';
import { callError } from '../call-error.ts';
import { ToolFailure } from '../tool-failure.ts';
import { failureText, plainText } from './failure-text.ts';
import { outcomeUnknown } from './outcome-unknown.ts';
import { toPlainJson } from './plain-json.ts';
import {
  HARD_CAP_BYTES,
  suppliedArguments,
  UnreadableResult,
  type RunOutcome,
  type RunRequest,
} from './runner.port.ts';

/** What a local handler gets beside its arguments. */
export interface HandlerContext {
  readonly signal: AbortSignal;
  readonly operationKey: string;
  readonly callId: string;
  readonly tenant: string;
  readonly attempt: number;
  readonly fence?: Readonly<Record<string, number>>;
  /** The settings that the pool allows its tools to see. */
  readonly env: Readonly<Record<string, string>>;
}
export type Handler<A = Readonly<Record<string, unknown>>> = (args: A, context: HandlerContext) => Promise<unknown>;

export interface LocalRunnerOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Values that must never stand in a text: see `failureText`. */
  readonly secrets: readonly string[];
}

const LATE = Symbol('no answer in time');

/** Runs a handler in this process. It cannot be stopped from outside: a handler that ignores its signal runs on. */
export async function runLocal(
  handler: Handler,
  request: RunRequest,
  options: LocalRunnerOptions,
): Promise<RunOutcome> {
  const { contract } = request;
  if (request.signal.aborted)
    return {
      kind: 'failed',
      sent: 'not_sent',
      noEffect: true,
      error: callError('CANCELLED', 'the call was stopped before it was sent'),
    };
  try {
    request.onSending();
  } catch (error) {
    return {
      kind: 'failed',
      sent: 'not_sent',
      noEffect: true,
      error: callError('CANCELLED', failureText(error, options.secrets)),
    };
  }
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<typeof LATE>((resolve) => {
      timer = setTimeout(() => resolve(LATE), contract.timeoutMs);
      request.signal.addEventListener('abort', () => resolve(LATE), { once: true });
      request.stop?.whenAsked(() => stop.abort());
      request.stop?.whenOver(() => resolve(LATE));
    });
    const working = invoke(handler, request, signal, options);
    const value = await Promise.race([working, late]);
    if (value !== LATE) return answered(value);
    working.then(
      (value) => request.onLate?.(answered(value)),
      () => undefined,
    );
    stop.abort();
    return request.signal.aborted || request.stop?.over === true ? stopped(contract) : timedOut(contract);
  } catch (thrown) {
    return threw(contract, thrown, options.secrets);
  } finally {
    clearTimeout(timer);
  }
}

async function invoke(
  handler: Handler,
  request: RunRequest,
  signal: AbortSignal,
  options: LocalRunnerOptions,
): Promise<unknown> {
  return handler(
    { ...request.arguments, ...suppliedArguments(request) },
    {
      signal,
      operationKey: request.operationKey,
      callId: request.callId,
      tenant: request.tenant,
      attempt: request.attempt,
      env: options.env,
      ...(request.fence === undefined ? {} : { fence: request.fence }),
    },
  );
}

function answered(returned: unknown): RunOutcome {
  const { value } = toPlainJson(returned);
  const raw = Buffer.from(JSON.stringify(value));
  if (raw.length <= HARD_CAP_BYTES) return { kind: 'answered', value, raw };
  return {
    kind: 'answered',
    value: new UnreadableResult(
      'RESULT_TOO_LARGE',
      `the tool returned ${raw.length} bytes; ${HARD_CAP_BYTES} are kept`,
    ),
    raw: raw.subarray(0, HARD_CAP_BYTES),
  };
}

function timedOut(contract: ToolContract): RunOutcome {
  const text = `the tool did not answer within ${contract.timeoutMs} ms`;
  if (!isRead(contract)) return outcomeUnknown(text);
  return { kind: 'failed', sent: 'maybe_sent', noEffect: true, error: callError('TIMEOUT', text, { retryable: true }) };
}

function stopped(contract: ToolContract): RunOutcome {
  const text = 'the call was stopped while the tool worked on it';
  if (!isRead(contract)) return outcomeUnknown(text);
  return { kind: 'failed', sent: 'maybe_sent', noEffect: true, error: callError('CANCELLED', text) };
}

/** A thrown write says nothing about its effect, unless the tool vouches for it with a ToolFailure or its error table. */
function threw(contract: ToolContract, thrown: unknown, secrets: readonly string[]): RunOutcome {
  const text = failureText(thrown, secrets);
  const failure = ToolFailure.is(thrown) ? thrown : undefined;
  const row = failure && contract.errors.find((candidate) => candidate.when === failure.code);
  const code: ErrorCode = row?.code ?? (failure && isCode(failure.code) ? failure.code : 'TOOL_ERROR');
  const noEffect = isRead(contract) || failure?.noEffect === true || row?.noEffect === true;
  if (!noEffect) return outcomeUnknown(`the tool failed: ${text}`);
  const error = callError(code, row ? plainText(`${row.meaning} (${text})`, secrets) : text, {
    ...(row ? { row } : {}),
    ...(failure?.retryable === undefined ? {} : { retryable: failure.retryable }),
    ...(failure?.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
  });
  return { kind: 'failed', sent: 'answered', noEffect: true, error };
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);
