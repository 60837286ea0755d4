import { TOPICS, type Message } from '#contracts';
import { derivedId } from '#kernel';
import { readFields, trace, type AuditData } from './audit-field.ts';
import { eventType } from './audit-row.ts';
import { auditRowOf, type AuditedType } from './audit-rows.ts';

/**
 * Facts as entries of the audit.
 *
 * A1 an entry's id is derived from its fact's business identity: a redelivery, whatever its envelope, is the same entry.
 * A2 a call's terminal entry is named by its callId alone: there can be only one.
 * A3 no arguments, no results, no texts of people or tools: the fields of a row let in ids, codes, digests, counts and
 *    durations, nothing else.
 */
export interface AuditEntry {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly runId: string | null;
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
    if (isForeign(message, topic)) {
      foreign.push({ callId: message.callId!, topic });
      continue;
    }
    const entry = entryOf(message);
    if (!entries.has(entry.id)) entries.set(entry.id, entry);
  }
  return { entries: [...entries.values()], foreign };
}

const isForeign = (message: Message<AuditedType>, topic: string): boolean =>
  (message.type === 'CallSettled' && !mayCarry(topic, message.data.settledBy)) ||
  (message.type === 'CallReconciled' && !mayCarry(topic, 'executor'));

/** The right to settle moves with the call, and each holder has topics of its own. */
function mayCarry(topic: string, settledBy: 'orchestrator' | 'policy' | 'executor'): boolean {
  if (settledBy === 'orchestrator') return topic === TOPICS.callRejected;
  return settledBy === 'policy' ? topic === TOPICS.callDecided : topic.startsWith('call.settled.');
}

const ENVELOPE = { trace_id: trace((message: Message) => message.correlationId) };

function entryOf(message: Message<AuditedType>): AuditEntry {
  const { name, identity, fields } = auditRowOf(message.type);
  const { tenant, occurredAt: time, data, runId = null, callId = null } = message;
  const type = eventType(name);
  const id = derivedId('evt', type, tenant, callId ?? runId ?? tenant, ...(identity?.(data) ?? []));
  return {
    id,
    tenant,
    type,
    runId,
    callId,
    time,
    data: { ...readFields(ENVELOPE, message), ...readFields(fields, data) },
  };
}
