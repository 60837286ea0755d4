import type { CallError, ResultViews, ToolContract } from '#contracts';

/** What the executor needs of `#tools`: one attempt at one call, and the views of its result. */
export interface RunRequest {
  readonly contract: ToolContract;
  readonly digest: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly operationKey: string;
  readonly callId: string;
  readonly tenant: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly fence?: Readonly<Record<string, number>>;
  /** Called just before the first byte may leave; what it throws stops the attempt as `not_sent`. */
  onSending(): void;
}

export type RunOutcome =
  | { readonly kind: 'answered'; readonly value: unknown; readonly raw: Buffer }
  | {
      readonly kind: 'failed';
      readonly sent: 'not_sent' | 'maybe_sent' | 'answered';
      /** Proves that nothing was changed. */
      readonly noEffect: boolean;
      readonly error: CallError;
      readonly raw?: Buffer;
    };

export interface ToolRunner {
  run(request: RunRequest): Promise<RunOutcome>;
}

export type ViewMaker = (
  contract: ToolContract,
  value: unknown,
  raw: Buffer,
  about: { readonly callId: string; readonly tool: string; readonly tenant: string },
) => ResultViews | Promise<ResultViews>;
