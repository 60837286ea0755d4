import type { FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import type { StoredProgress } from '../src/domain/stored-progress.ts';

type StoredCall = StoredProgress['calls'][number];

const nothing = {
  status: 'proposed',
  rank: 0,
  tool: null,
  providerCallId: null,
  approvalRank: 0,
  approvalId: null,
  settledBy: null,
  effect: null,
  replayed: false,
  attempts: 0,
  durationMs: null,
  errorCode: null,
};

/** What the state store answers to `progress` after these facts. */
export function storedAfter(facts: readonly FactAt[]): StoredProgress | null {
  if (facts.length === 0) return null;
  const calls = new Map<string, StoredCall>();
  const put = (callId: string, change: Partial<StoredCall>): void => {
    calls.set(callId, { ...nothing, callId, ...calls.get(callId), ...change });
  };
  let run: Omit<StoredProgress, 'calls'> = {
    driver: null,
    agent: null,
    taskId: null,
    labels: {},
    startedAt: null,
    turns: 0,
    endedRank: 0,
    status: null,
    outcome: null,
    cause: null,
    answer: null,
    endedAt: null,
    compensationRank: 0,
    compensation: null,
  };
  for (const { message } of facts) {
    const callId = message.callId ?? '';
    switch (message.type) {
      case 'RunStarted': {
        const { driver, agentName, taskId, labels } = message.data;
        run = {
          ...run,
          driver,
          agent: agentName ?? null,
          taskId: taskId ?? null,
          labels,
          startedAt: message.occurredAt,
        };
        break;
      }
      case 'TurnRecorded':
        run = { ...run, turns: message.data.turn };
        break;
      case 'RunEnded': {
        const { episode, status, outcome, cause, answer, turns } = message.data;
        run = { ...run, endedRank: episode, status, outcome, cause, answer, turns, endedAt: message.occurredAt };
        break;
      }
      case 'CallProposed':
        put(callId, { tool: message.data.tool, providerCallId: message.data.providerCallId ?? null });
        break;
      case 'ApprovalRequested': {
        const { decisionNo, approvalId, tool } = message.data;
        put(callId, { rank: decisionNo * 10 + 1, status: 'asked', tool, approvalRank: decisionNo, approvalId });
        break;
      }
      case 'CallAllowed': {
        const { decisionNo, approvalId, tool } = message.data;
        const approval = approvalId === null ? {} : { approvalRank: decisionNo, approvalId };
        put(callId, { rank: decisionNo * 10 + 2, status: 'granted', tool, ...approval });
        break;
      }
      case 'CallSettled': {
        const { status, settledBy, tool, approvalId, decisionNo, providerCallId, error, ...data } = message.data;
        put(callId, {
          rank: 1_000_000_000,
          status,
          settledBy,
          tool,
          ...(approvalId === null ? {} : { approvalRank: decisionNo ?? 1, approvalId }),
          providerCallId: providerCallId ?? null,
          errorCode: error?.code ?? null,
          effect: data.effect,
          replayed: data.replayed,
          attempts: data.attempts,
          durationMs: data.durationMs,
        });
        break;
      }
      default:
    }
  }
  return { ...run, calls: [...calls.values()] };
}
