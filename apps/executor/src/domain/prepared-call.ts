import { decodeMessage, isRead, toolName, type Message, type ToolContract } from '#contracts';
import { derivedId, digestText } from '#kernel';
import type { GrantClaims } from '#grants';

/** A call whose grant was checked: enough to record how it ended. */
export interface GrantedCall {
  readonly granted: Message<'CallGranted'>;
  readonly callId: string;
  readonly claims: GrantClaims;
  /** `ns.name`: the scope of operation keys does not end with a version. */
  readonly tool: string;
  readonly grantDigest: string;
  readonly keyHash: string;
  /** Milliseconds. */
  readonly leaseMs: number;
}

/** With its contract: all that the journal and the runner need. */
export interface PreparedCall extends GrantedCall {
  readonly contract: ToolContract;
  /** False for reads that may be repeated until their grant expires: no approval, idempotency `natural`. */
  readonly journaled: boolean;
  readonly write: boolean;
  /** Resources that one holder at a time may write. */
  readonly holds: readonly string[];
}

export interface LeaseRules {
  /** Milliseconds. */
  readonly leaseMs: number;
  readonly marginMs: number;
}

export const grantDigestOf = (token: string): string => digestText('grant/v1', token);
export const keyHashOf = (operationKey: string): string => digestText('operation-key/v1', operationKey);

/**
 * The key that the source system is given. Attempts, and calls after a failure without effect, share one; after its effect
 * was taken back another one is needed, or the source would answer with what it did before, and do nothing.
 */
export const sourceKey = ({ claims: { operationKey } }: GrantedCall, takenBack: number | null): string =>
  takenBack === null || takenBack === 0
    ? operationKey
    : digestText('operation-key-again/v1', `${takenBack} ${operationKey}`);

export function grantedCall(granted: Message<'CallGranted'>, claims: GrantClaims, leaseMs: number): GrantedCall {
  return {
    granted,
    callId: claims.callId,
    claims,
    tool: claims.tool.split('@')[0]!,
    grantDigest: grantDigestOf(granted.data.grant),
    keyHash: keyHashOf(claims.operationKey),
    leaseMs,
  };
}

/** Of a message about the call; the same `kind` and `own` are the same message. */
export const contextOfCall = ({ granted, claims }: GrantedCall, nowMs: number, kind: string, ...own: number[]) => ({
  tenant: claims.tenant,
  runId: claims.runId,
  callId: claims.callId,
  causationId: granted.id,
  correlationId: granted.correlationId,
  now: nowMs,
  id: derivedId('msg', kind, claims.callId, ...own),
});

/** Stored after the grant was verified: read, not verified again, because its key may be gone by now. */
export function storedClaims(granted: Message<'CallGranted'>): GrantClaims {
  return JSON.parse(Buffer.from(granted.data.grant.split('.')[1]!, 'base64url').toString('utf8')) as GrantClaims;
}

export function storedCall(message: Buffer, leaseMs = 0): GrantedCall {
  const granted = decodeMessage(message) as Message<'CallGranted'>;
  return grantedCall(granted, storedClaims(granted), leaseMs);
}

/** What may follow when nobody knows whether the effect happened. */
export const repeatOf = ({ idempotency, reconcile }: ToolContract): 'natural' | 'key' | 'probe' | 'none' =>
  idempotency.mode === 'none' && reconcile ? 'probe' : idempotency.mode;

/** The journal was restored to a time at which the call may not have begun: only what a repeat cannot do twice is judged again. */
export const mayBeForgotten = ({ write, contract }: PreparedCall): boolean =>
  write && contract.idempotency.mode === 'none';

export function prepareCall(
  granted: Message<'CallGranted'>,
  claims: GrantClaims,
  contract: ToolContract,
  rules: LeaseRules,
): PreparedCall {
  const write = !isRead(contract) || claims.effectClass !== 'read';
  return {
    ...grantedCall(granted, claims, Math.max(rules.leaseMs, contract.timeoutMs + 2 * rules.marginMs)),
    contract,
    journaled: write || claims.approvalId !== undefined || contract.idempotency.mode !== 'natural',
    write,
    holds: write ? holdsOf(contract, claims.resources) : [],
  };
}

/** A contract that serializes by resource, but names none, is serialized by its tool. */
function holdsOf(contract: ToolContract, resources: readonly string[]): string[] {
  if (contract.concurrency === 'parallel') return [];
  if (contract.concurrency === 'exclusive' || resources.length === 0) return [`tool:${toolName(contract)}`];
  return [...new Set(resources.map(holdName))].sort();
}

/** Names that an index and a text column cannot hold are replaced by their digest. */
const holdName = (resource: string): string =>
  resource.length > 512 || resource.includes('\0') ? digestText('resource/v1', resource) : resource;
