import type { CommandRefused } from '#contracts';
import { CountersignError, InfrastructureError, type ErrorCode, type ErrorDetail } from '#kernel';

/** An answer that is an error; becomes an RFC 9457 document. Only the gateway chooses HTTP statuses. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;
  /** Members beside the standard ones. */
  readonly extension: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: ErrorCode,
    detail: string,
    more: {
      readonly details?: readonly ErrorDetail[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly extension?: Readonly<Record<string, unknown>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.status = status;
    this.code = code;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
    this.extension = more.extension ?? {};
  }
}

export const notFound = (what: string): HttpProblem => new HttpProblem(404, 'NOT_FOUND', `There is no such ${what}`);

export const unknownAgent = (name: string, known: readonly string[]): HttpProblem =>
  new HttpProblem(
    404,
    'NOT_FOUND',
    `There is no agent ${JSON.stringify(name)} (known: ${known.join(', ') || 'none'})`,
    {
      details: [{ path: '/agent', rule: 'known', allowed: known }],
    },
  );

/** The credential does not cover the tool. */
export const outsideScope = (path: string, tool: string): HttpProblem =>
  new HttpProblem(403, 'PERMISSION_DENIED', `The credential does not cover the tool ${JSON.stringify(tool)}`, {
    details: [{ path, rule: 'scope' }],
  });

/** A run does not take a command: what is not about the caller, its key or a place in the command is a conflict with the run's state. */
export function refusedByRun({ code, message, details = [] }: CommandRefused): HttpProblem {
  const own = code === 'PERMISSION_DENIED' || code === 'NOT_FOUND' || code === 'IDEMPOTENCY_CONFLICT';
  return new HttpProblem(own || details.length > 0 ? statusOf(code) : 409, code, message, {
    details: details as ErrorDetail[],
  });
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_JSON: 400,
  INVALID_ARGS: 400,
  UNKNOWN_TOOL: 400,
  TOOL_NOT_ALLOWED: 400,
  IDEMPOTENCY_REQUIRED: 400,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  IDEMPOTENCY_CONFLICT: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
};

/** What is not listed is a conflict with the state of the thing that was addressed. */
const statusOf = (code: ErrorCode): number => STATUS[code] ?? 409;

/** @returns null for what is not an error of ours: a fault to log */
export function asProblem(error: unknown): HttpProblem | null {
  if (error instanceof HttpProblem) return error;
  if (error instanceof InfrastructureError) {
    const detail = 'A part of the service is away; try again';
    return new HttpProblem(503, 'INTERNAL', detail, { headers: { 'retry-after': '1' }, cause: error });
  }
  if (!(error instanceof CountersignError) || error.code === 'INTERNAL') return null;
  const tooLarge = error.details.some((detail) => detail.rule === 'maxBytes' && detail.path === '');
  const status = tooLarge ? 413 : statusOf(error.code);
  return new HttpProblem(status, error.code, error.message, { details: error.details, cause: error });
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Too slow',
  409: 'Conflict',
  412: 'Changed meanwhile',
  413: 'Too large',
  414: 'Address too long',
  415: 'Unsupported media type',
  421: 'Misdirected request',
  422: 'Key used with other content',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Fault of ours',
  503: 'Not available',
};

export function problemDocument(problem: HttpProblem, requestId: string): Record<string, unknown> {
  return {
    type: `urn:countersign:error:${problem.code}`,
    title: TITLES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    details: problem.details,
    requestId,
    ...problem.extension,
  };
}
