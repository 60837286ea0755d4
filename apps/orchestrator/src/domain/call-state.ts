import type { BoundCall, CallProposed, Cancellation, Effect, LimitName, ShownStatus, TenantLimit } from '#contracts';
import type { ErrorCode } from '#kernel';
import type { FactPlan, FactsRead } from './fact-plan.ts';
import type { UndoPlan, WayBack } from './way-back.ts';

// One call as the saga coordinator knows it: R1 and R2 of run-state.ts.

/** What stays the same of a call in all of its states. */
export interface CallBase {
  readonly callId: string;
  readonly providerCallId?: string | undefined;
  /** `ns.name@version`, or as asked when it never got as far as a contract. */
  readonly tool: string;
  readonly batch: number;
  /** null: the proposal named no tool. */
  readonly effectClass: BoundCall['effectClass'] | null;
  /** callIds: it waits for these and needs their success, and stands outside the order of its batch. */
  readonly dependsOn?: readonly string[] | undefined;
  /** Of class `undo`: the call that it takes back. */
  readonly undoes?: string | undefined;
  /** Of a fact read: the write that waits for it. */
  readonly factsFor?: string | undefined;
}

interface OpenCallBase extends CallBase {
  readonly proposal: CallProposed;
  /** Epoch milliseconds: when it was proposed, and when it last moved. */
  readonly at: number;
  readonly movedAt: number;
  readonly timeoutMs: number;
  readonly undo?: UndoPlan | undefined;
}

export interface HeldCall extends CallBase {
  readonly state: 'held';
  readonly bound: Omit<CallProposed, 'runDeadline'>;
  readonly timeoutMs: number;
  readonly undo?: UndoPlan | undefined;
  readonly facts?: FactPlan | undefined;
  readonly approvalTtlMs: number;
}
export interface ProposedCall extends OpenCallBase {
  readonly state: 'proposed';
}
export interface AskedCall extends OpenCallBase {
  readonly state: 'asked';
  readonly approvalId: string;
  readonly decisionNo: number;
  readonly expiresAt: number;
}
export interface DecidedCall extends OpenCallBase {
  readonly state: 'decided';
  readonly approvalId: string;
  readonly decisionNo: number;
  readonly approved: boolean;
}
export interface SettledCall extends CallBase {
  readonly state: 'settled';
  /** As it is known now: an unknown outcome may be found out later. */
  readonly status: ShownStatus;
  readonly effect: Effect;
  readonly errorCode: ErrorCode | null;
  readonly replayed: boolean;
  readonly approvalId: string | null;
  readonly resourceIds: readonly string[];
  /** What a cancellation of the run came to for this call. */
  readonly cancellation?: Cancellation | undefined;
  /** For the model, until it was handed over in the next turn. */
  readonly output?: string | undefined;
  /** Of a fact read. */
  readonly facts?: FactsRead | undefined;
  /** What the model is told before the output. */
  readonly note?: string | undefined;
  /** The call that a person wrote in its place. */
  readonly replacedBy?: string | undefined;
  /** The limit of the run that refused it, or that of its tenant. */
  readonly limit?: LimitName | undefined;
  readonly tenantLimit?: TenantLimit | undefined;
  /** What was asked and what came of it, as short digests: equal ones are repetitions. */
  readonly asked?: string | undefined;
  readonly came?: string | undefined;
  readonly wayBack?: WayBack | undefined;
  /** After it there is no way back. */
  readonly pivot?: true | undefined;
  /** Of a call whose outcome was unknown: who holds its record, and what has become known since. */
  readonly pool?: string | undefined;
  readonly reconciled?: Reconciled | undefined;
  /** The runtime itself is finding its outcome out. */
  readonly looking?: true | undefined;
}

export interface Reconciled {
  readonly amendment: number;
  /** The person's command that led to it. */
  readonly commandId: string | null;
}
/** Proposed to policy and not settled: the right to settle it lies elsewhere. */
export type OutCall = ProposedCall | AskedCall | DecidedCall;
export type Call = HeldCall | OutCall | SettledCall;

/** For the next state: nothing of what a call is may get lost on the way. */
export const baseOf = ({
  callId,
  providerCallId,
  tool,
  batch,
  effectClass,
  dependsOn,
  undoes,
  factsFor,
}: CallBase): CallBase => ({
  callId,
  providerCallId,
  tool,
  batch,
  effectClass,
  ...(dependsOn ? { dependsOn } : {}),
  ...(undoes ? { undoes } : {}),
  ...(factsFor ? { factsFor } : {}),
});

export const isOut = (call: Call): call is OutCall =>
  call.state === 'proposed' || call.state === 'asked' || call.state === 'decided';
export const isSettled = (call: Call): call is SettledCall => call.state === 'settled';
/** Another call was made in its place. */
export const isReplaced = (call: Call): boolean => isSettled(call) && call.replacedBy !== undefined;
/** Nobody knows yet what became of it. */
export const isUnknown = (call: Call): call is SettledCall =>
  isSettled(call) && (call.status === 'outcome_unknown' || call.status === 'needs_human');
