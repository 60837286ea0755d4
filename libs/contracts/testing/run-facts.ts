import { callsDigest, message, settledTopic, TOPICS, type Message, type MessageContext } from '#contracts';
import { callIdOf, digestText, newId } from '#kernel';

export interface FactAt {
  readonly topic: string;
  readonly message: Message;
}

const DIGEST = digestText('test', 'x');
const PRINCIPAL = { id: 'user:alice', kind: 'user', roles: ['agent'] } as const;
const NOW = Date.UTC(2026, 0, 1);

const principal = () => ({ ...PRINCIPAL, roles: [...PRINCIPAL.roles] });

/** Every fact of one agent run with a read, an approved write (judged twice) and a rejected proposal, in order of happening. */
export function runFacts(
  tenant = 'dev',
  runId = newId('run'),
  runNo?: number,
): { runId: string; callIds: string[]; facts: FactAt[] } {
  const callIds = [1, 2, 3].map((n) => callIdOf(runId, n));
  const [read, write, wrong] = callIds as [string, string, string];
  let at = 0;
  const context = (callId?: string): MessageContext => ({
    tenant,
    runId,
    ...(callId ? { callId } : {}),
    now: NOW + at++ * 1000,
  });
  const on = (topic: string, value: Message): FactAt => ({ topic, message: value });
  const proposed = (callId: string, tool: string): FactAt =>
    on(
      TOPICS.callProposed,
      message('CallProposed', context(callId), {
        providerCallId: `p-${callId.slice(-1)}`,
        driver: 'agent',
        principal: principal(),
        tool,
        contractDigest: DIGEST,
        pool: 'default',
        effectClass: tool.includes('read') ? 'read' : 'call',
        arguments: { secret: 'never shown' },
        argumentsDigest: DIGEST,
        resources: [],
        operationKey: `${tenant}/user:alice/t`,
        origins: {},
        runDeadline: NOW + 600_000,
      }),
    );
  const allowed = (callId: string, tool: string, decisionNo: number, approvalId: string | null): FactAt =>
    on(
      TOPICS.callDecided,
      message('CallAllowed', context(callId), {
        decisionNo,
        decisionId: `dec_${decisionNo}`,
        tool,
        contractDigest: DIGEST,
        argumentsDigest: DIGEST,
        policyDigest: DIGEST,
        reasons: ['r'],
        approvalId,
      }),
    );
  const asked = (callId: string, decisionNo: number, approvalId: string): FactAt =>
    on(
      TOPICS.callDecided,
      message('ApprovalRequested', context(callId), {
        approvalId,
        decisionNo,
        digest: DIGEST,
        tool: 'ops.write@1.0.0',
        contractDigest: DIGEST,
        argumentsDigest: DIGEST,
        policyDigest: DIGEST,
        arguments: {},
        origins: {},
        resources: [],
        risk: 'low',
        sideEffects: 'reversible',
        requester: principal(),
        approverRoles: ['approver'],
        forbidSelf: true,
        quorum: 1,
        reasons: [],
        expiresAt: new Date(NOW + 600_000).toISOString(),
      }),
    );
  const facts: FactAt[] = [
    on(
      TOPICS.runEvents,
      message('RunStarted', context(), {
        driver: 'agent',
        principal: principal(),
        requestDigest: DIGEST,
        agentName: 'triage',
        taskId: 't',
        callIds: [],
        labels: { team: 'ops' },
        ...(runNo === undefined ? {} : { runNo }),
      }),
    ),
    on(
      TOPICS.runEvents,
      message('TurnRecorded', context(), { turn: 1, callIds, inputTokens: 10, outputTokens: 5, answer: null }),
    ),
    proposed(read, 'ops.read@1.0.0'),
    proposed(write, 'ops.write@1.0.0'),
    allowed(read, 'ops.read@1.0.0', 1, null),
    on(
      settledTopic('default'),
      settled(context(read), {
        tool: 'ops.read@1.0.0',
        effect: 'none',
        providerCallId: 'p-1',
        decisionNo: 1,
        sanitized: { alerts: [1] },
        resourceIds: [],
      }),
    ),
    asked(write, 1, `appr_${'1'.repeat(26)}`),
    allowed(write, 'ops.write@1.0.0', 1, `appr_${'1'.repeat(26)}`),
    on('call.returned.default', message('GrantReturned', context(write), { decisionNo: 1, reason: 'GRANT_EXPIRED' })),
    asked(write, 2, `appr_${'2'.repeat(26)}`),
    on(
      TOPICS.callDecided,
      message('ApprovalDecided', context(write), {
        commandId: 'cmd_1',
        approvalId: `appr_${'2'.repeat(26)}`,
        digest: DIGEST,
        decision: 'approved',
        approver: { id: 'user:bob', kind: 'user', roles: ['approver'] },
        reason: 'fine',
      }),
    ),
    allowed(write, 'ops.write@1.0.0', 2, `appr_${'2'.repeat(26)}`),
    on(
      settledTopic('default'),
      settled(context(write), {
        tool: 'ops.write@1.0.0',
        effect: 'applied',
        providerCallId: 'p-2',
        decisionNo: 2,
        approvalId: `appr_${'2'.repeat(26)}`,
        sanitized: { id: 'T-1' },
        resourceIds: ['T-1'],
      }),
    ),
    on(
      TOPICS.callRejected,
      message('CallSettled', context(wrong), {
        settledBy: 'orchestrator',
        status: 'rejected',
        providerCallId: 'p-3',
        tool: 'no_such_tool',
        contractDigest: null,
        argumentsDigest: null,
        principal: principal(),
        decisionNo: null,
        approvalId: null,
        policyDigest: null,
        operationKeyHash: null,
        effect: 'none',
        replayed: false,
        attempts: 0,
        durationMs: 0,
        error: { code: 'UNKNOWN_TOOL', message: 'no such tool', retryable: false },
        result: null,
      }),
    ),
    on(
      TOPICS.runEvents,
      message('TurnRecorded', context(), { turn: 2, callIds: [], inputTokens: 20, outputTokens: 7, answer: 'done' }),
    ),
    on(
      TOPICS.runEvents,
      message('RunEnded', context(), {
        status: 'completed',
        outcome: 'some_failed',
        cause: null,
        episode: 1,
        callCount: 3,
        callsDigest: callsDigest(callIds),
        turns: 2,
        answer: 'done',
      }),
    ),
  ];
  return { runId, callIds, facts };
}

interface Settling {
  tool: string;
  effect: 'none' | 'applied';
  providerCallId: string;
  decisionNo: number;
  approvalId?: string;
  sanitized: unknown;
  resourceIds: string[];
}

function settled(context: MessageContext, of: Settling): Message {
  return message('CallSettled', context, {
    settledBy: 'executor',
    status: 'succeeded',
    providerCallId: of.providerCallId,
    tool: of.tool,
    contractDigest: DIGEST,
    argumentsDigest: DIGEST,
    principal: principal(),
    decisionNo: of.decisionNo,
    approvalId: of.approvalId ?? null,
    policyDigest: DIGEST,
    operationKeyHash: DIGEST,
    effect: of.effect,
    replayed: false,
    attempts: 1,
    durationMs: 12.5,
    error: null,
    result: {
      rawDigest: DIGEST,
      sanitizedDigest: DIGEST,
      modelDigest: DIGEST,
      sanitized: of.sanitized,
      model: 'for the model alone',
      truncated: null,
      redactions: 0,
      evidence: { resourceIds: of.resourceIds, sources: [] },
      fault: null,
    },
  });
}
