import {
  message,
  outgoing,
  settledTopic,
  type CallError,
  type CallReconciled,
  type Effect,
  type Message,
  type OutgoingMessage,
  type Principal,
  type ReconciledStatus,
  type Resolution,
  type ResultViews,
} from '#contracts';
import { derivedId, digestText } from '#kernel';
import { contextOfCall, type GrantedCall } from './prepared-call.ts';
import { executorError, settlementOf } from './settlement.ts';

/** What somebody or something found out about a call whose outcome was unknown. */
export interface Finding {
  readonly by: CallReconciled['reconciledBy'];
  readonly status: ReconciledStatus;
  readonly effect: Effect;
  readonly evidence: string;
  readonly error: CallError | null;
  readonly result: ResultViews | null;
  readonly commandId: string | null;
  readonly principal: Principal | null;
  readonly proposed: Resolution | null;
}

type Origin = Pick<Finding, 'by' | 'evidence'> & Partial<Pick<Finding, 'commandId' | 'principal' | 'result'>>;

const from = (origin: Origin) => ({ commandId: null, principal: null, proposed: null, result: null, ...origin });

export const foundApplied = (origin: Origin): Finding => ({
  ...from(origin),
  status: 'succeeded',
  effect: 'applied',
  error: null,
});

/** Proved to be without effect: the key is free again, so a repeat is a new attempt and no second effect. */
export const foundNotApplied = (origin: Origin): Finding => ({
  ...from(origin),
  status: 'failed',
  effect: 'none',
  error: notAppliedError(),
  result: null,
});

export const foundPartial = (origin: Origin): Finding => ({
  ...from(origin),
  status: 'partially_applied',
  effect: 'partial',
  error: executorError('OUTCOME_UNKNOWN', 'The call was applied in part; a person has said so. Do not repeat it.'),
  result: null,
});

/** Nobody but a person can find it out. */
export const leftToPerson = (origin: Origin, more: Partial<Pick<Finding, 'effect' | 'proposed'>> = {}): Finding => ({
  ...from(origin),
  status: 'needs_human',
  effect: 'unknown',
  error: executorError('OUTCOME_UNKNOWN'),
  ...more,
  result: null,
});

export const notAppliedError = (): CallError => ({
  ...executorError('TIMEOUT', 'No answer came, and it was found out afterwards that nothing was changed.'),
  retryable: true,
});

export const byResolution = { applied: foundApplied, not_applied: foundNotApplied, partially_applied: foundPartial };

export const isDecided = (finding: Finding): boolean => finding.status !== 'needs_human';

/** Evidence is kept in bounds wherever it comes from. */
export const MAX_EVIDENCE = 4_000;

/** What is said of the call after its settlement; the same amendment is the same message. */
export function reconciledOf(
  call: GrantedCall,
  amendment: number,
  finding: Finding,
  pool: string,
  nowMs: number,
): OutgoingMessage {
  const { claims } = call;
  const context = contextOfCall(call, nowMs, 'reconciled', amendment);
  const { by, ...rest } = finding;
  const evidence = finding.evidence.slice(0, MAX_EVIDENCE);
  const data: CallReconciled = {
    amendment,
    reconciledBy: by,
    tool: claims.tool,
    contractDigest: claims.contractDigest,
    operationKeyHash: call.keyHash,
    ...(claims.undoes === undefined ? {} : { undoes: claims.undoes }),
    ...rest,
    evidence,
    evidenceDigest: digestText('evidence/v1', evidence),
  };
  return outgoing(settledTopic(pool), message('CallReconciled', context, data));
}

/** The journal has no record of the call: it was restored from a backup, or is another installation's. */
export function resolutionRefused(command: Message<'ReconcileCall'>, pool: string, nowMs: number): OutgoingMessage {
  const { tenant, runId, callId, correlationId, id: causationId, data } = command;
  const { commandId } = data;
  const text = `The journal of the pool "${pool}" has no record of this call, so nothing is decided by it. Was it restored from a backup? Look at the tool's own system, and do what is left as a new task.`;
  const id = derivedId('msg', 'resolution-refused', callId!, commandId);
  const context = { tenant, runId: runId!, callId: callId!, causationId, correlationId, now: nowMs, id };
  const refused = { commandId, code: 'INVALID_ARGS', message: text } as const;
  return outgoing(settledTopic(pool), message('ResolutionRefused', context, refused));
}

/** What repeats of the key are answered with once the call is known to have succeeded. */
export function recordOf(call: GrantedCall, finding: Finding, pool: string, nowMs: number): Buffer | null {
  if (finding.status !== 'succeeded') return null;
  const ending = {
    status: 'succeeded',
    effect: 'applied',
    replayed: false,
    attempts: 0,
    durationMs: 0,
    error: null,
    result: finding.result,
  } as const;
  return settlementOf(call, ending, pool, nowMs).value;
}
