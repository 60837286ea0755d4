import type { ErrorCode, Json } from '#kernel';
import type { ToolChoice, ToolContract } from '#contracts';

/**
 * A model provider: what a run says goes out as a request, what the model says comes back as proposals.
 *
 * P1  An adapter never executes, approves or repairs: proposals carry the arguments as the model wrote them.
 * P2  Items of the provider pass through the transcript unmodified, in their order; an adapter alone reads them.
 * P3  Nothing of an answer that is incomplete, refused or not understood becomes a proposal.
 * P4  Ids of proposals are unique within the transcript; results are paired by them, never by position.
 * P5  `buildRequest` and `parse` are pure; `ask` is the only one that talks to the world.
 */
export interface Provider {
  readonly name: string;
  /** What a person says: opens a transcript, or goes on after results. */
  openItems(text: string | undefined): TranscriptItem[];
  /**
   * Results of the turn before in the provider's form, in the given order.
   * @throws CountersignError INTERNAL when they are not exactly one for each open proposal
   */
  resultItems(transcript: readonly TranscriptItem[], results: readonly ResultForModel[]): TranscriptItem[];
  buildRequest(turn: TurnToAsk): ProviderRequest;
  /**
   * One attempt; nothing is tried again here.
   * @throws ProviderFault
   */
  ask(request: ProviderRequest, options: AskOptions): Promise<unknown>;
  parse(answer: unknown, context: ParseContext): TurnAnswer;
  /** False for what no person may see, such as reasoning. */
  isVisible(item: TranscriptItem): boolean;
}

/** An item in the provider's own form. */
export type TranscriptItem = { readonly [key: string]: Json };

export interface ResultForModel {
  readonly providerCallId: string;
  readonly output: string;
}

export interface TurnToAsk {
  readonly model: string;
  readonly instructions: string;
  readonly transcript: readonly TranscriptItem[];
  readonly tools: readonly ToolContract[];
  readonly parallelToolCalls: boolean;
  /** Absent: auto. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Tokens that the answer may have, its reasoning with it; undefined = as many as the model can. */
  readonly maxOutputTokens?: number;
}

/** JSON of one request; `offered` inside it is what the model was shown. */
export type ProviderRequest = Readonly<Record<string, unknown>>;

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds for the whole attempt. */
  readonly timeoutMs: number;
}

export interface ParseContext {
  readonly turn: number;
  /** All items that were sent. */
  readonly transcript: readonly TranscriptItem[];
}

export interface ProposalOfModel {
  readonly providerCallId: string;
  /** The name as the model wrote it. */
  readonly tool: string;
  readonly arguments: string;
}

export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export type TurnAnswer =
  | {
      readonly kind: 'answered';
      /** To append to the transcript. */
      readonly items: readonly TranscriptItem[];
      readonly proposals: readonly ProposalOfModel[];
      readonly text: string | null;
      readonly responseId: string | null;
      readonly usage: TokenUsage;
    }
  | {
      readonly kind: 'unusable';
      readonly code: ErrorCode;
      readonly message: string;
      readonly retryable: boolean;
      readonly usage: TokenUsage;
    };

/** Why an attempt gave no answer. Its message names status, code and request id; never content or keys. */
export class ProviderFault extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  /** Milliseconds that the provider asks to wait; null = it did not say. */
  readonly retryAfterMs: number | null;
  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly retryable: boolean; readonly retryAfterMs?: number | null; readonly cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ProviderFault';
    this.code = code;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
