import { grantedTopic, message, outgoing, TOPICS, type MessageContext, type OutgoingMessage } from '#contracts';
import { digestText } from '#kernel';
import type { ApprovalRequested } from '#contracts';
import type { Decision, Proposal } from './decision.ts';
import { refusalError, type Refusal } from './refusal.ts';

/** The same decision always gives the same messages, ids and bytes: a repeat is a repeat (P2). */
export function decisionMessages(
  decision: Decision,
  proposal: Proposal,
  asked: ApprovalRequested | undefined,
): OutgoingMessage[] {
  const { state } = decision;
  switch (state.kind) {
    case 'granted':
      return [
        outgoing(
          TOPICS.callDecided,
          message(
            'CallAllowed',
            contextOf(decision, proposal, 'CallAllowed'),
            allowed(decision, proposal, state.approval?.approvalId ?? null),
          ),
        ),
        outgoing(grantedTopic(proposal.call.pool), granted(decision, proposal, state.token)),
      ];
    case 'asked':
      return asked
        ? [
            outgoing(
              TOPICS.callDecided,
              message('ApprovalRequested', contextOf(decision, proposal, 'ApprovalRequested'), asked),
            ),
          ]
        : [];
    case 'refused':
      return [
        outgoing(
          TOPICS.callDecided,
          message('CallSettled', contextOf(decision, proposal, 'CallSettled'), settled(decision, proposal, state)),
        ),
      ];
    case 'superseded':
      return [];
  }
}

/** The last part of a message's id; short, because an envelope's id is. */
const WHAT = {
  CallAllowed: 'allowed',
  CallGranted: 'granted',
  CallSettled: 'settled',
  ApprovalRequested: 'asked',
  ApprovalExpired: 'expired',
  ApprovalSuperseded: 'superseded',
} as const;

export function contextOf(decision: Decision, proposal: Proposal, type: keyof typeof WHAT): MessageContext {
  return {
    tenant: proposal.tenant,
    runId: proposal.runId,
    callId: proposal.callId,
    causationId: proposal.messageId,
    correlationId: proposal.correlationId,
    now: decision.decidedAt,
    id: `${proposal.callId}.${decision.decisionNo}.${WHAT[type]}`,
  };
}

export const decisionId = (callId: string, decisionNo: number): string =>
  `dec_${callId.slice('call_'.length)}_${decisionNo}`;

function granted(decision: Decision, proposal: Proposal, grant: string) {
  const { origins: _origins, runDeadline: _deadline, approvalTtlMs: _ttl, edited: _edited, ...bound } = proposal.call;
  return message('CallGranted', contextOf(decision, proposal, 'CallGranted'), {
    ...bound,
    decisionNo: decision.decisionNo,
    grant,
  });
}

function allowed(decision: Decision, { call, callId }: Proposal, approvalId: string | null) {
  return {
    decisionNo: decision.decisionNo,
    decisionId: decisionId(callId, decision.decisionNo),
    tool: call.tool,
    contractDigest: call.contractDigest,
    argumentsDigest: call.argumentsDigest,
    policyDigest: decision.policyDigest,
    reasons: [...decision.reasons],
    approvalId,
  };
}

function settled(decision: Decision, { call }: Proposal, state: Refusal) {
  return {
    settledBy: 'policy' as const,
    status: state.status,
    ...(call.providerCallId === undefined ? {} : { providerCallId: call.providerCallId }),
    tool: call.tool,
    contractDigest: call.contractDigest,
    argumentsDigest: call.argumentsDigest,
    principal: call.principal,
    decisionNo: decision.decisionNo,
    approvalId: state.approvalId,
    policyDigest: decision.policyDigest,
    operationKeyHash: digestText('operation-key/v1', call.operationKey),
    effect: 'none' as const,
    replayed: false,
    ...(call.undoes ? { undoes: call.undoes.callId } : {}),
    attempts: 0,
    durationMs: 0,
    error: refusalError(state),
    result: null,
  };
}
