import type { Message } from '#contracts';
import type { Proposal } from '../domain/decision.ts';

/** @throws TypeError when the message is no CallProposed of a call */
export function proposalOf(message: Message): Proposal {
  if (message.type !== 'CallProposed' || message.callId === undefined || message.runId === undefined)
    throw new TypeError('not a CallProposed');
  return {
    callId: message.callId,
    tenant: message.tenant,
    runId: message.runId,
    messageId: message.id,
    correlationId: message.correlationId,
    call: message.data,
  };
}
