import { isRead, type ToolContract } from '#contracts';
import type { ErrorCode } from '#kernel';
import { callError, type ErrorRow } from '../call-error.ts';
import { failureText, plainText } from './failure-text.ts';
import type { Exchange } from './http-exchange.ts';
import { outcomeUnknown } from './outcome-unknown.ts';
import { readJsonResult } from './read-json-result.ts';
import { retryAfterMs } from './retry-after.ts';
import { UnreadableResult, type RunOutcome } from './runner.port.ts';

type Answer = Extract<Exchange, { kind: 'answer' }>;
type Lost = Extract<Exchange, { kind: 'lost' }>;

export interface ClassifyOptions {
  readonly secrets: readonly string[];
  /** Epoch milliseconds, for a `Retry-After` that names a date. */
  readonly nowMs: number;
}

/** Statuses after which a write may have been applied all the same; 3xx too, since a redirect often follows a success. */
const mayBeApplied = (status: number): boolean =>
  status < 400 || status >= 500 || status === 408 || status === 409 || status === 425 || status === 429;

const PRECONDITION_FAILED = 412;
const CHANGED =
  'the resource has changed since its facts were read and judged; nothing was done: propose the call anew';

/** An HTTP answer → outcome. The contract's table comes first; then the status; a write is unknown unless something proves otherwise. */
export function classifyAnswer(contract: ToolContract, answer: Answer, options: ClassifyOptions): RunOutcome {
  const { status, body } = answer;
  if (status >= 200 && status < 300) return { kind: 'answered', value: successValue(answer), raw: body };
  const said = answer.tooLarge ? null : errorBody(answer);
  const row = contract.errors.find((candidate) => matches(candidate, status, said));
  const read = isRead(contract);
  const noEffect = read || row?.noEffect === true || !mayBeApplied(status);
  const wait = retryAfterMs(answer.headers['retry-after'], options.nowMs);
  const text = messageOf(status, row, said, options.secrets);
  if (!noEffect) return outcomeUnknown(text, { retryAfterMs: wait, raw: body });
  if (status === PRECONDITION_FAILED && contract.facts !== undefined && row === undefined)
    return {
      kind: 'failed',
      sent: 'answered',
      noEffect: true,
      error: callError('APPROVAL_MISMATCH', CHANGED),
      raw: body,
    };
  const code = row?.code ?? codeOf(status);
  const transient = read && (status >= 500 || status === 408 || status === 425 || status === 429);
  const error = callError(code, text, { retryAfterMs: wait, ...(row ? { row } : { retryable: transient }) });
  return { kind: 'failed', sent: 'answered', noEffect: true, error, raw: body };
}

/** No answer → outcome. Before the first byte nothing happened; after it a write is unknown. */
export function classifyLost(contract: ToolContract, lost: Lost): RunOutcome {
  const text = lostText(contract, lost);
  if (!lost.sent) {
    const code: ErrorCode =
      lost.why === 'timeout' ? 'TIMEOUT' : lost.why === 'stopped' ? 'CANCELLED' : 'UPSTREAM_UNAVAILABLE';
    return {
      kind: 'failed',
      sent: 'not_sent',
      noEffect: true,
      error: callError(code, text, { retryable: code !== 'CANCELLED' }),
    };
  }
  if (!isRead(contract)) return outcomeUnknown(text);
  const code: ErrorCode = lost.why === 'timeout' ? 'TIMEOUT' : lost.why === 'stopped' ? 'CANCELLED' : 'UPSTREAM_ERROR';
  return {
    kind: 'failed',
    sent: 'maybe_sent',
    noEffect: true,
    error: callError(code, text, { retryable: code !== 'CANCELLED' }),
  };
}

function lostText(contract: ToolContract, lost: Lost): string {
  if (lost.why === 'timeout') return `the tool did not answer within ${contract.timeoutMs} ms`;
  if (lost.why === 'stopped') return 'the call was stopped before the tool answered';
  return lost.sent
    ? `the connection to the tool was cut before it answered (${lost.code})`
    : `the tool could not be reached (${lost.code})`;
}

function successValue(answer: Answer): unknown {
  if (answer.tooLarge)
    return new UnreadableResult(
      'RESULT_TOO_LARGE',
      `the answer has more than ${answer.body.length} bytes; the rest was not read`,
    );
  if (answer.body.length === 0) return null;
  const encoding = answer.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return new UnreadableResult(
      'INVALID_RESULT',
      `the answer is encoded as ${plainText(encoding)}, which was not asked for`,
    );
  if (!isJson(answer))
    return new UnreadableResult(
      'INVALID_RESULT',
      `the answer is not JSON (content-type ${plainText(answer.headers['content-type'] ?? 'missing')})`,
    );
  return readJsonResult(answer.body);
}

const isJson = (answer: Answer): boolean =>
  /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i.test(answer.headers['content-type'] ?? '');

function errorBody(answer: Answer): unknown {
  if (!isJson(answer) || answer.body.length > 262_144) return null;
  const value = readJsonResult(answer.body);
  return value instanceof UnreadableResult ? null : value;
}

/** By HTTP status, or by the code that the body holds in one of the usual places. */
function matches(row: ErrorRow, status: number, said: unknown): boolean {
  if (typeof row.when === 'number') return row.when === status;
  const body = (typeof said === 'object' && said !== null ? said : {}) as Record<string, unknown>;
  const inner = (typeof body.error === 'object' && body.error !== null ? body.error : {}) as Record<string, unknown>;
  return [body.code, body.error, body.errorCode, body.type, inner.code, inner.type].includes(row.when);
}

function codeOf(status: number): ErrorCode {
  if (status === 404 || status === 410) return 'NOT_FOUND';
  if (status === 429) return 'RATE_LIMITED';
  if (status === 408) return 'TIMEOUT';
  return status === 400 || status === 422 ? 'TOOL_ERROR' : 'UPSTREAM_ERROR';
}

function messageOf(status: number, row: ErrorRow | undefined, said: unknown, secrets: readonly string[]): string {
  const detail = said === null || said === undefined ? undefined : failureText(said, secrets);
  const head = row ? row.meaning : `the tool answered ${status}`;
  return plainText(detail === undefined ? head : `${head}: ${detail}`, secrets);
}
