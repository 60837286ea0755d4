import type { IHeaders } from 'kafkajs';
import type { DeadLetter, Delivery } from '../bus.port.ts';

/**
 * Headers of ours on the records of `.retry` and `.dlq` topics. The record keeps its own key, value and headers.
 * `group`: only this group gets the record again.
 */
const PREFIX = 'countersign-';
export const HEADERS = {
  group: 'countersign-group',
  topic: 'countersign-topic',
  partition: 'countersign-partition',
  offset: 'countersign-offset',
  attempt: 'countersign-attempt',
  notBefore: 'countersign-not-before',
  handlerAttempts: 'countersign-handler-attempts',
  code: 'countersign-code',
  cause: 'countersign-cause',
} as const;

/** kafkajs gives a list where a name stands more than once; the last one counts. */
export function plainHeaders(headers: IHeaders | undefined): Record<string, Buffer> {
  const plain: Record<string, Buffer> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) plain[name] = Buffer.isBuffer(last) ? last : Buffer.from(last);
  }
  return plain;
}

const originOf = (group: string, at: Pick<Delivery, 'topic' | 'partition' | 'offset'>): Record<string, string> => ({
  [HEADERS.group]: group,
  [HEADERS.topic]: at.topic,
  [HEADERS.partition]: String(at.partition),
  [HEADERS.offset]: at.offset,
});

export const retryHeaders = (
  group: string,
  delivery: Delivery,
  attempt: number,
  notBefore: number,
): Record<string, Buffer | string> => ({
  ...delivery.headers,
  ...originOf(group, delivery),
  [HEADERS.attempt]: String(attempt),
  [HEADERS.notBefore]: String(notBefore),
});

export const letterHeaders = (letter: DeadLetter): Record<string, Buffer | string> => ({
  ...letter.headers,
  ...originOf(letter.group, letter),
  [HEADERS.handlerAttempts]: String(letter.handlerAttempts),
  [HEADERS.code]: letter.code,
  [HEADERS.cause]: letter.cause,
});

export interface RetryRecord {
  readonly group: string;
  readonly delivery: Delivery;
  /** Epoch milliseconds. */
  readonly notBefore: number;
}

/** Reads a record of a `.retry` topic back; null when it is not one of ours. */
export function readRetry(
  key: Buffer | null,
  value: Buffer | null,
  headers: Readonly<Record<string, Buffer>>,
): RetryRecord | null {
  const text = (name: string): string => headers[name]?.toString('utf8') ?? '';
  const [topic, offset, group] = [text(HEADERS.topic), text(HEADERS.offset), text(HEADERS.group)];
  const [partition, attempt, notBefore] = [text(HEADERS.partition), text(HEADERS.attempt), text(HEADERS.notBefore)].map(
    Number,
  );
  if (
    !topic ||
    !offset ||
    !group ||
    !Number.isInteger(partition) ||
    !Number.isInteger(attempt) ||
    !Number.isFinite(notBefore)
  )
    return null;
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(PREFIX)));
  return {
    group,
    notBefore: notBefore!,
    delivery: { topic, partition: partition!, offset, key, value, headers: own, attempt: attempt! },
  };
}

/** Reads a record of a `.dlq` topic back; null when it is not one of ours. */
export function readLetter(
  key: Buffer | null,
  value: Buffer | null,
  headers: Readonly<Record<string, Buffer>>,
): DeadLetter | null {
  const text = (name: string): string => headers[name]?.toString('utf8') ?? '';
  const [topic, offset, group] = [text(HEADERS.topic), text(HEADERS.offset), text(HEADERS.group)];
  if (!topic || !offset || !group) return null;
  return {
    group,
    topic,
    partition: Number(text(HEADERS.partition)),
    offset,
    key,
    value,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(PREFIX))),
    handlerAttempts: Number(text(HEADERS.handlerAttempts)),
    code: text(HEADERS.code),
    cause: text(HEADERS.cause),
  };
}
