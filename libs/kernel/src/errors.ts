/**
 * The closed set of error codes. `retry` tells a program what may help:
 * - `model`    the model may correct its proposal
 * - `person`   a person can change the answer
 * - `backoff`  the same request may succeed later
 * - `contract` the tool's contract decides
 * - `decision` a new decision is needed
 * - `reconcile` only finding out what happened helps; never repeat
 * - `never`    nothing helps
 */
export type RetryClass = 'model' | 'person' | 'backoff' | 'contract' | 'decision' | 'reconcile' | 'never';

interface CodeRow {
  readonly retry: RetryClass;
  readonly meaning: string;
}

const row = (retry: RetryClass, meaning: string): CodeRow => ({ retry, meaning });

export const ERROR_CODES = {
  INVALID_JSON: row(
    'model',
    'The text is not strict JSON (syntax, duplicate key, depth, size, number or character range).',
  ),
  INVALID_ARGS: row('model', 'The arguments do not fit the contract of the tool.'),
  UNKNOWN_TOOL: row('model', 'No tool of this name is published for the caller.'),
  TOOL_NOT_ALLOWED: row('model', 'The tool exists, but was not offered in this run or turn.'),
  IDEMPOTENCY_REQUIRED: row(
    'never',
    'The contract needs a business key (such as taskId) that the caller did not give.',
  ),
  PERMISSION_DENIED: row('never', 'Policy denies the call.'),
  APPROVAL_REQUIRED: row('person', 'A person must approve the call first.'),
  APPROVAL_DENIED: row('never', 'A person rejected the call.'),
  APPROVAL_EXPIRED: row('person', 'Nobody decided in time.'),
  APPROVAL_MISMATCH: row('person', 'What was approved is not what would run.'),
  IDEMPOTENCY_CONFLICT: row('never', 'The same key was used with other content.'),
  CONTRACT_CHANGED: row('decision', 'The contract of the grant is not the one that would run.'),
  GRANT_INVALID: row('decision', 'The grant is not one of ours, or not for this call.'),
  GRANT_SPENT: row('decision', 'The grant was already used for another call.'),
  GRANT_EXPIRED: row('decision', 'The grant expired before it was used.'),
  BUSY: row('backoff', 'The resource stayed locked until the wait was over.'),
  RATE_LIMITED: row('backoff', 'A rate limit was reached.'),
  UPSTREAM_UNAVAILABLE: row('backoff', 'The tool could not be reached; nothing was sent.'),
  TIMEOUT: row('contract', 'No answer in time, and nothing was changed.'),
  UPSTREAM_ERROR: row('contract', 'The tool answered with a failure of its own.'),
  TOOL_ERROR: row('contract', 'The tool reported a business error.'),
  NOT_FOUND: row('never', 'The resource does not exist.'),
  OUTCOME_UNKNOWN: row('reconcile', 'The request was sent and the outcome cannot be known. Do not repeat it.'),
  INVALID_RESULT: row('never', 'The result does not fit the output schema; the effect stands and is recorded.'),
  RESULT_TOO_LARGE: row('never', 'The result is larger than the contract allows; the effect stands and is recorded.'),
  RESULT_BLOCKED: row('never', 'The result was withheld from the model; the effect stands and is recorded.'),
  RESULT_EXPIRED: row('never', 'The result was kept for its time and is gone; the effect stands and is recorded.'),
  DEPENDENCY_FAILED: row('never', 'An earlier write of the same turn did not succeed.'),
  BUDGET_EXHAUSTED: row('never', 'A limit of the run was reached.'),
  REPEATED_CALL: row('never', 'The same call was made too often with the same result.'),
  CANCELLED: row('never', 'The call was cancelled before it ran.'),
  MODEL_UNAVAILABLE: row('backoff', 'The model provider could not be reached or refused for now.'),
  MODEL_REFUSED: row('never', 'The model refused.'),
  MODEL_TRUNCATED: row('never', 'The answer of the model was cut off.'),
  MODEL_PROTOCOL: row('never', 'The answer of the model provider could not be understood.'),
  INTERNAL: row('backoff', 'A fault of ours; the reference id finds it in the logs.'),
} as const satisfies Record<string, CodeRow>;

export type ErrorCode = keyof typeof ERROR_CODES;
export const ERROR_CODE_NAMES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** Where a fault lies and which rule it breaks. `path` is a JSON pointer ("" = the whole document). */
export interface ErrorDetail {
  readonly path: string;
  readonly rule: string;
  readonly message?: string;
  readonly allowed?: readonly unknown[];
}

/** The one base class. Messages never hold secrets, arguments or results. */
export class CountersignError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  constructor(code: ErrorCode, message: string, options: { details?: readonly ErrorDetail[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CountersignError';
    this.code = code;
    this.details = options.details ?? [];
  }
  get retry(): RetryClass {
    return ERROR_CODES[this.code].retry;
  }
}

/**
 * A part of the machinery (database, broker, Redis, another service) is away. The work is held and tried again
 * in place; it never counts as an attempt and never becomes a dead letter.
 */
export class InfrastructureError extends CountersignError {
  constructor(message: string, cause?: unknown) {
    super('INTERNAL', message, { cause });
    this.name = 'InfrastructureError';
  }
}
