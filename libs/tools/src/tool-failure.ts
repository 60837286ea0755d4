import type { ErrorCode } from '#kernel';

export interface ToolFailureOptions {
  /** A code of the contract's error table, or one of ours. Default TOOL_ERROR. */
  readonly code?: string;
  /** True only where the tool knows that nothing was changed; else a failed write is reported as unknown. */
  readonly noEffect?: boolean;
  readonly retryable?: boolean;
  /** Milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('countersign.tool-failure');

/** What a local handler throws to fail in a way that it can vouch for. */
export class ToolFailure extends Error {
  readonly code: ErrorCode | (string & {});
  readonly noEffect: boolean;
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
  readonly [BRAND] = true;

  constructor(message: string, options: ToolFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolFailure';
    this.code = options.code ?? 'TOOL_ERROR';
    this.noEffect = options.noEffect ?? false;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Also recognizes a failure made by another copy of this module, as a user's own package may hold one. */
  static is(value: unknown): value is ToolFailure {
    try {
      return value instanceof Error && (value as { [BRAND]?: unknown })[BRAND] === true;
    } catch {
      return false;
    }
  }
}
