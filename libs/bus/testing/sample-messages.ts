import { encodeMessage, message, partitionKey, type OutgoingMessage } from '#contracts';
import { newId } from '#kernel';

let counter = 0;

/** Names that no other case uses. */
export const unique = (name: string): string => `${name}-${process.pid}-${Date.now().toString(36)}-${++counter}`;

export const sampleRun = (): string => newId('run');

/** A valid message; `id` is what the cases look for. */
export function sampleValue(id: string, runId = sampleRun()): Buffer {
  const principal = { id: 'user:alice', kind: 'user' as const, roles: ['agent'] };
  return encodeMessage(message('FinishRun', { id, tenant: 'dev', runId, now: 0 }, { commandId: id, principal }));
}

export function sample(
  topic: string,
  id: string,
  runId = sampleRun(),
  headers?: Record<string, string>,
): OutgoingMessage {
  return {
    topic,
    key: runId,
    partitionKey: partitionKey(runId),
    value: sampleValue(id, runId),
    ...(headers ? { headers } : {}),
  };
}

/** A message of the catalogue that the sample groups do not accept. */
export function otherSample(topic: string, id: string): OutgoingMessage {
  const runId = sampleRun();
  const data = { turn: 1, callIds: [], inputTokens: null, outputTokens: null, answer: null };
  const value = encodeMessage(message('TurnRecorded', { id, tenant: 'dev', runId, now: 0 }, data));
  return { topic, key: runId, partitionKey: partitionKey(runId), value };
}
