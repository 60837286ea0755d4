import { CountersignError, newId, parseOwnJson, pointerStep, type ErrorDetail } from '#kernel';
import { CATALOGUE, isMessageType, type MessageData, type MessageType } from './catalogue.ts';
import { envelopeSchema } from './envelope.schema.ts';

interface EnvelopeOf<T extends MessageType> {
  readonly id: string;
  readonly type: T;
  readonly schemaVersion: number;
  readonly tenant: string;
  readonly runId?: string | undefined;
  readonly callId?: string | undefined;
  readonly causationId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly occurredAt: string;
  readonly data: MessageData<T>;
}

/** A decoded message; discriminated by `type`. */
export type Message<T extends MessageType = MessageType> = { [K in T]: EnvelopeOf<K> }[T];

export interface MessageContext {
  readonly tenant: string;
  /** Absent for what belongs to no run. */
  readonly runId?: string | undefined;
  readonly callId?: string;
  readonly causationId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Give one where a repeat must carry the same envelope. */
  readonly id?: string;
}

/** Makes a message; the data's type follows the message's type. */
export function message<T extends MessageType>(type: T, context: MessageContext, data: MessageData<T>): Message<T> {
  const envelope = {
    id: context.id ?? newId('msg', context.now),
    type,
    schemaVersion: CATALOGUE[type].version,
    tenant: context.tenant,
    ...(context.runId === undefined ? {} : { runId: context.runId }),
    ...(context.callId === undefined ? {} : { callId: context.callId }),
    ...(context.causationId === undefined ? {} : { causationId: context.causationId }),
    ...(context.correlationId === undefined ? {} : { correlationId: context.correlationId }),
    occurredAt: new Date(context.now).toISOString(),
    data,
  };
  return envelope as unknown as Message<T>;
}

export function encodeMessage(value: Message): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

/** What travels: bytes with their topic, key and partition key. */
export interface OutgoingMessage {
  readonly topic: string;
  /** callId, runId or tenant. */
  readonly key: string;
  /** The run's part; absent = the default hash of the key (public topics). */
  readonly partitionKey?: string;
  readonly value: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Messages are refused here, at their source, rather than at the consumer; bounded by the broker's limit. */
export const MAX_MESSAGE_BYTES = 900_000;

/**
 * Strict bytes → message.
 * @throws CountersignError INVALID_JSON (not UTF-8, not strict JSON) or INVALID_ARGS (unknown type, newer version, wrong shape), with paths
 */
export function decodeMessage(value: Uint8Array): Message {
  const parsed = envelopeSchema.safeParse(parseOwnJson(value, MAX_MESSAGE_BYTES));
  if (!parsed.success) throw invalid('The message is not an envelope', parsed.error.issues);
  const envelope = parsed.data;
  if (!isMessageType(envelope.type))
    throw unknownType(`The message type ${JSON.stringify(envelope.type)} is not in the catalogue`);
  const row = CATALOGUE[envelope.type];
  if (envelope.schemaVersion > row.version) {
    throw unknownType(
      `${envelope.type} has version ${envelope.schemaVersion}; this consumer knows up to ${row.version}`,
    );
  }
  const data = row.schema.safeParse(envelope.data);
  if (!data.success) throw invalid(`The data of ${envelope.type} has the wrong shape`, data.error.issues, '/data');
  if (row.key === 'callId' && envelope.callId === undefined) throw unknownType(`${envelope.type} needs a callId`);
  if (row.key !== 'tenant' && envelope.runId === undefined) throw unknownType(`${envelope.type} needs a runId`);
  return { ...envelope, data: data.data } as Message;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly code?: string | undefined;
  readonly message: string;
}

export function issueDetails(issues: readonly Issue[], prefix = ''): ErrorDetail[] {
  return issues.slice(0, 20).map((issue) => ({
    path: prefix + issue.path.map((part) => pointerStep(part)).join(''),
    rule: issue.code ?? 'invalid',
    message: issue.message,
  }));
}

function invalid(text: string, issues: readonly Issue[], prefix = ''): CountersignError {
  const details = issueDetails(issues, prefix);
  const first = details[0];
  return new CountersignError(
    'INVALID_ARGS',
    first ? `${text}: ${first.path || '/'} ${first.message ?? ''}`.trim() : text,
    { details },
  );
}

const unknownType = (text: string): CountersignError => new CountersignError('INVALID_ARGS', text);
