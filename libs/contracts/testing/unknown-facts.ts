import { callsDigest, message, settledTopic, TOPICS, type CallReconciled, type CallSettled } from '#contracts';
import { callIdOf, digestText, newId } from '#kernel';
import type { FactAt } from './run-facts.ts';

const DIGEST = digestText('test', 'x');
const NOW = Date.UTC(2026, 0, 1);
const alice = { id: 'user:alice', kind: 'user' as const, roles: ['agent'] };
const olga = { id: 'user:olga', kind: 'user' as const, roles: ['operator'] };
const unknownError = { code: 'OUTCOME_UNKNOWN' as const, message: 'nobody knows', retryable: false };

export const unknownSettled = (own: Partial<CallSettled> = {}): CallSettled => ({
  settledBy: 'executor',
  status: 'outcome_unknown',
  tool: 'ops.write@1.0.0',
  contractDigest: DIGEST,
  argumentsDigest: DIGEST,
  principal: alice,
  decisionNo: 1,
  approvalId: null,
  policyDigest: DIGEST,
  operationKeyHash: DIGEST,
  effect: 'unknown',
  replayed: false,
  attempts: 1,
  durationMs: 3,
  error: unknownError,
  result: null,
  ...own,
});

export const reconciledData = (own: Partial<CallReconciled> = {}): CallReconciled => ({
  amendment: 1,
  reconciledBy: 'person',
  status: 'succeeded',
  effect: 'applied',
  tool: 'ops.write@1.0.0',
  contractDigest: DIGEST,
  operationKeyHash: DIGEST,
  commandId: 'cmd-1',
  principal: olga,
  proposed: null,
  evidence: 'the ticket is there',
  evidenceDigest: DIGEST,
  error: null,
  result: {
    rawDigest: DIGEST,
    sanitizedDigest: DIGEST,
    modelDigest: DIGEST,
    sanitized: { id: 'T-1' },
    model: 'for the model alone',
    truncated: null,
    redactions: 0,
    evidence: { resourceIds: ['T-1'], sources: [] },
    fault: null,
  },
  ...own,
});

/** Every fact of one direct call that ended as unknown, was left to a person, and was found out by one; in order. */
export function unknownFacts(tenant = 'dev', runId = newId('run')): { runId: string; callId: string; facts: FactAt[] } {
  const callId = callIdOf(runId, 1);
  let at = 0;
  const context = (call = true) => ({ tenant, runId, now: NOW + at++ * 1000, ...(call ? { callId } : {}) });
  const pool = settledTopic('default');
  const needsHuman = {
    amendment: 1,
    reconciledBy: 'probe',
    status: 'needs_human',
    effect: 'unknown',
    commandId: null,
    principal: null,
    evidence: 'the probe cannot tell',
    error: unknownError,
    result: null,
  } as const;
  const ended = {
    status: 'completed',
    outcome: 'some_unknown',
    cause: null,
    episode: 1,
    callCount: 1,
    callsDigest: callsDigest([callId]),
    turns: 0,
    answer: null,
  } as const;
  const started = { driver: 'call', principal: alice, requestDigest: DIGEST, callIds: [callId], labels: {} } as const;
  const facts: FactAt[] = [
    { topic: TOPICS.runEvents, message: message('RunStarted', context(false), { ...started, callIds: [callId] }) },
    { topic: pool, message: message('CallSettled', context(), unknownSettled()) },
    { topic: TOPICS.runEvents, message: message('RunEnded', context(false), ended) },
    { topic: pool, message: message('CallReconciled', context(), reconciledData(needsHuman)) },
    { topic: pool, message: message('CallReconciled', context(), reconciledData({ amendment: 2 })) },
    {
      topic: TOPICS.runEvents,
      message: message('RunAmended', context(false), { episode: 1, amendment: 1, outcome: 'all_succeeded' }),
    },
  ];
  return { runId, callId, facts };
}
