import { TOPICS, type Message, type MessageType } from '#contracts';
import { derivedId } from '#kernel';
import {
  approvalData,
  commandRefusedData,
  decidedData,
  grantRefusedData,
  grantReturnedData,
  resumedData,
  runData,
  settledData,
  turnData,
} from './audit-data.ts';
import { redactData, type AuditData } from './redact-data.ts';

/**
 * Which facts are audited, and as what.
 *
 * A1 an entry's id is derived from its fact's business identity: a redelivery, whatever its envelope, is the same entry.
 * A2 a call's terminal entry is named by its callId alone: there can be only one.
 * A3 no arguments, no results, no texts of people or tools: ids, codes, digests, counts and durations; `redactData` lets
 *    nothing else through.
 */
export const AUDITED_TYPES = [
  'RunStarted',
  'TurnRecorded',
  'RunEnded',
  'RunResumed',
  'CommandRefused',
  'CallAllowed',
  'ApprovalRequested',
  'ApprovalDecided',
  'ApprovalRefused',
  'ApprovalExpired',
  'GrantReturned',
  'GrantRefused',
  'CallSettled',
] as const satisfies readonly MessageType[];
export type AuditedType = (typeof AUDITED_TYPES)[number];

export interface AuditEntry {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly runId: string;
  readonly callId: string | null;
  /** RFC 3339. */
  readonly time: string;
  readonly data: AuditData;
}

export interface AuditedFact {
  readonly message: Message<AuditedType>;
  readonly topic: string;
}

export interface AuditEntries {
  readonly entries: readonly AuditEntry[];
  /** Settlements that came from one who may not settle. */
  readonly foreign: readonly { readonly callId: string; readonly topic: string }[];
}

/** One entry a fact, each id once, in the order of the facts. */
export function auditEntries(facts: readonly AuditedFact[]): AuditEntries {
  const entries = new Map<string, AuditEntry>();
  const foreign: { callId: string; topic: string }[] = [];
  for (const { message, topic } of facts) {
    if (message.type === 'CallSettled' && !mayCarry(topic, message.data.settledBy)) {
      foreign.push({ callId: message.callId!, topic });
      continue;
    }
    const entry = entryOf(message);
    if (!entries.has(entry.id)) entries.set(entry.id, entry);
  }
  return { entries: [...entries.values()], foreign };
}

/** The right to settle moves with the call, and each holder has topics of its own. */
function mayCarry(topic: string, settledBy: 'orchestrator' | 'policy' | 'executor'): boolean {
  if (settledBy === 'orchestrator') return topic === TOPICS.callRejected;
  return settledBy === 'policy' ? topic === TOPICS.callDecided : topic.startsWith('call.settled.');
}

function entryOf(message: Message<AuditedType>): AuditEntry {
  const { type, identity, data } = contentOf(message);
  const { tenant, occurredAt, correlationId } = message;
  const runId = message.runId!;
  const callId = message.callId ?? null;
  const id = derivedId('evt', type, tenant, callId ?? runId, ...identity);
  const redacted = redactData({ trace_id: correlationId ?? null, ...data });
  return { id, tenant, type, runId, callId, time: occurredAt, data: redacted };
}

interface Content {
  readonly type: string;
  /** What names the fact beside its call or run. */
  readonly identity: readonly (string | number)[];
  readonly data: AuditData;
}

const content = (name: string, identity: readonly (string | number)[], data: AuditData): Content => ({
  type: `dev.countersign.${name}.v1`,
  identity,
  data,
});

function contentOf(message: Message<AuditedType>): Content {
  switch (message.type) {
    case 'RunStarted':
      return content('run.started', [], runData(message.data));
    case 'TurnRecorded':
      return content('turn.recorded', [message.data.turn], turnData(message.data));
    case 'RunEnded': {
      const { status, outcome, cause, episode, callCount, callsDigest, turns } = message.data;
      const data = {
        status,
        outcome,
        error_code: cause?.code ?? null,
        episode,
        call_count: callCount,
        calls_digest: callsDigest,
        turns,
      };
      return content('run.ended', [episode], data);
    }
    case 'RunResumed':
      return content('run.resumed', [message.data.episode], resumedData(message.data));
    case 'CommandRefused':
      return content('command.refused', [message.data.commandId, message.data.code], commandRefusedData(message.data));
    case 'CallAllowed':
      return content('call.decided', [message.data.decisionNo], decidedData(message.data));
    case 'ApprovalRequested':
    case 'ApprovalDecided':
    case 'ApprovalRefused':
    case 'ApprovalExpired':
      return approvalContent(message);
    case 'GrantReturned':
      return content('grant.returned', [message.data.decisionNo, message.data.reason], grantReturnedData(message.data));
    case 'GrantRefused':
      return content(
        'grant.refused',
        [message.data.grantDigest, message.data.code, message.data.pool],
        grantRefusedData(message.data),
      );
    case 'CallSettled':
      return content('call.settled', [], settledData(message.data));
  }
}

function approvalContent(
  message: Message<'ApprovalRequested' | 'ApprovalDecided' | 'ApprovalRefused' | 'ApprovalExpired'>,
): Content {
  const { approvalId } = message.data;
  const data = approvalData(message);
  switch (message.type) {
    case 'ApprovalRequested':
      return content('approval.requested', [approvalId], data);
    case 'ApprovalDecided':
      return content('approval.decided', [approvalId], data);
    case 'ApprovalRefused':
      return content('approval.refused', [approvalId, message.data.commandId, message.data.code], data);
    case 'ApprovalExpired':
      return content('approval.expired', [approvalId], data);
  }
}
