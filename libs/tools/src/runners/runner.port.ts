import type { CallError, ToolContract } from '#contracts';
import type { ErrorCode } from '#kernel';

/**
 * A runner makes one attempt at one call and says honestly how far it got.
 *
 * R1 `not_sent`: no byte of the request left, nothing can have happened.
 * R2 `maybe_sent`: it may have happened and nobody told; for a write only the contract's safe repeat, a probe or a person helps.
 * R3 `answered`: the tool itself said that it failed; `noEffect` says whether that proves that nothing was changed.
 * R4 a runner never throws, never repeats, never follows a redirect, and never holds more than its cap of an answer.
 * R5 for a read `noEffect` is always true.
 */
/** That a call is to stop because it was cancelled; its end is still waited for until `over`. */
export interface StopRequest {
  readonly asked: boolean;
  readonly over: boolean;
  whenAsked(listener: () => void): void;
  whenOver(listener: () => void): void;
}

export interface RunRequest {
  readonly contract: ToolContract;
  readonly digest: string;
  /** Normalized: exactly what was approved. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly operationKey: string;
  readonly callId: string;
  readonly tenant: string;
  /** 1 for the first attempt of the call. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** A read stops when asked, a write when the time to answer is over; a local handler's signal says so at once. */
  readonly stop?: StopRequest;
  /** Resource → fence epoch, for tools that refuse a late writer. */
  readonly fence?: Readonly<Record<string, number>>;
  /** Of the resource as it was judged: a tool that meets another one must refuse. */
  readonly version?: string;
  /** Called once, just before the first byte may leave. What it throws stops the attempt as `not_sent`. */
  onSending(): void;
  /** An answer that came after the attempt was given up, where the runner can still hear it. */
  onLate?(outcome: RunOutcome): void;
}

/** What the runtime puts beside the arguments that were approved: operation key, fence and version, where the contract says so. */
export function suppliedArguments({ contract, operationKey, fence, version }: RunRequest): Record<string, unknown> {
  const { idempotency } = contract;
  const supplied: Record<string, unknown> = {};
  if (idempotency.mode === 'key' && 'argument' in idempotency.place)
    supplied[idempotency.place.argument] = operationKey;
  const value = fenceOf(fence);
  if (contract.fence && 'argument' in contract.fence && value !== undefined) supplied[contract.fence.argument] = value;
  const place = contract.facts?.versionPlace;
  if (place && 'argument' in place && version !== undefined) supplied[place.argument] = version;
  return supplied;
}

/** Of the one resource that a fenced contract has. */
export const fenceOf = (fence: RunRequest['fence']): number | undefined => Object.values(fence ?? {})[0];

export type RunOutcome =
  | {
      readonly kind: 'answered';
      /** Plain JSON, or an `UnreadableResult`; hand it to `makeViews` as it is. */
      readonly value: unknown;
      /** Bytes as received; what a local tool returned, as JSON. */
      readonly raw: Buffer;
    }
  | {
      readonly kind: 'failed';
      readonly sent: 'not_sent' | 'maybe_sent' | 'answered';
      readonly noEffect: boolean;
      readonly error: CallError;
      readonly raw?: Buffer;
    };
export type FailedOutcome = Extract<RunOutcome, { kind: 'failed' }>;

/** What a probe is asked: did this write happen? */
export type ProbeRequest = Pick<
  RunRequest,
  'contract' | 'digest' | 'arguments' | 'operationKey' | 'callId' | 'tenant' | 'signal'
>;

/**
 * What a probe found out. `evidence` says how, without anything that the tool wrote itself.
 *
 * P1 `not_applied` only where the contract's mapping says so; an absent mapping, an answer that fits none or several,
 *    and every failure is `cannot_tell`.
 */
export type ProbeOutcome = { readonly evidence: string } & (
  | {
      readonly kind: 'applied';
      /** What the write would have answered, where the probe gives it. */
      readonly value?: unknown;
      readonly raw?: Buffer;
    }
  | { readonly kind: 'not_applied' | 'partly' | 'cannot_tell' }
);

export interface Runner {
  run(request: RunRequest): Promise<RunOutcome>;
  /** One read that asks what became of a write. It changes nothing, and may be repeated. */
  probe(request: ProbeRequest): Promise<ProbeOutcome>;
  /** Closes idle connections. */
  close(): void;
}

/** The tool succeeded, but its answer cannot be read: a fault of the view, not of the effect. */
export class UnreadableResult {
  readonly code: Extract<ErrorCode, 'INVALID_RESULT' | 'RESULT_TOO_LARGE'>;
  readonly message: string;
  constructor(code: UnreadableResult['code'], message: string) {
    this.code = code;
    this.message = message;
  }
}

/** Bytes of one answer that are read at most; beyond it the answer is RESULT_TOO_LARGE and never asked for again. */
export const HARD_CAP_BYTES = 8_388_608;
