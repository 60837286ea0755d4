import type { Incoming } from '#bus';
import { retryTopic, settledTopic, TOPICS } from '#contracts';
import type { Input, SettlementSource } from './domain/saga.types.ts';

export const ACCEPTED = [
  'StartRun',
  'ProposeCalls',
  'FinishRun',
  'CancelRun',
  'ResumeRun',
  'CompensateRun',
  'ResolveCall',
  'PauseRun',
  'TakeOverRun',
  'HandBackRun',
  'TurnCompleted',
  'TurnFailed',
  'ApprovalRequested',
  'ApprovalDecided',
  'ApprovalEdited',
  'CallSettled',
  'CallCancellation',
  'CallReconciled',
] as const;
export type OrchestratorMessage = (typeof ACCEPTED)[number];

/** A message as the saga sees it. The runId, the callId and (by the bus) their shape were checked at decoding. */
export function inputOf({ message, delivery }: Incoming<OrchestratorMessage>): Input {
  const about = {
    runId: message.runId!,
    tenant: message.tenant,
    causationId: message.id,
    correlationId: message.correlationId,
  };
  switch (message.type) {
    case 'ApprovalRequested':
    case 'ApprovalDecided':
    case 'ApprovalEdited':
      return { ...about, callId: message.callId!, type: message.type, data: message.data } as Input;
    case 'CallSettled':
    case 'CallCancellation':
    case 'CallReconciled':
      return {
        ...about,
        callId: message.callId!,
        type: message.type,
        data: message.data,
        from: sourceOf(delivery.topic),
      } as Input;
    default:
      return { ...about, type: message.type, data: message.data } as Input;
  }
}

const POOL_PREFIX = settledTopic('');
const RETRY_SUFFIX = retryTopic('');

/** The topic proves the sender: only a pool may write to its own (by the broker's access rules), only policy to call.decided. */
function sourceOf(topic: string): SettlementSource {
  const origin = topic.endsWith(RETRY_SUFFIX) ? topic.slice(0, -RETRY_SUFFIX.length) : topic;
  if (origin === TOPICS.callDecided) return { kind: 'policy' };
  return origin.startsWith(POOL_PREFIX) ? { kind: 'pool', pool: origin.slice(POOL_PREFIX.length) } : { kind: 'other' };
}
