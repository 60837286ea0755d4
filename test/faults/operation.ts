/**
 * What the contract says about a call whose answer was lost: repeat it (`key`, `natural`), ask what became of it
 * (`reconcile`), neither (`none`); reads, and writes that a person must approve.
 */
export const CLASSES = ['key', 'natural', 'none', 'read', 'approved', 'reconcile'] as const;
export type ToolClass = (typeof CLASSES)[number];

export interface Told {
  readonly status: string;
  readonly effect: string | null;
  readonly code: string | null;
}

/** One thing that a caller asked for, with all that it was told about it. */
export interface Operation {
  readonly kind: 'call' | 'run';
  readonly toolClass: ToolClass;
  readonly items: readonly { readonly item: string; readonly toolClass: ToolClass }[];
  /** performance.now() */
  readonly startedAt: number;
  settledAt: number | null;
  runId?: string | undefined;
  callId?: string | undefined;
  readonly told: Told[];
  /** Requests that were refused for good. */
  readonly refusals: string[];
}
