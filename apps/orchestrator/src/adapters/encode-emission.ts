import { message, outgoing, type MessageType, type OutgoingMessage } from '#contracts';
import type { Emission } from '../domain/saga.types.ts';

export function encodeEmission(emission: Emission): OutgoingMessage {
  const { topic, type, at, data, callId, ...context } = emission;
  return outgoing(
    topic,
    message<MessageType>(type, { ...context, ...(callId === undefined ? {} : { callId }), now: at }, data),
  );
}
