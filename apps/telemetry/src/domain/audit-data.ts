import type {
  CallAllowed,
  CallSettled,
  CommandRefused,
  GrantRefused,
  GrantReturned,
  Message,
  RunResumed,
  RunStarted,
  TurnRecorded,
} from '#contracts';
import { digestText } from '#kernel';
import type { AuditData } from './redact-data.ts';

const namespaceOf = (tool: string): string | null => /^([a-z][a-z0-9_]*?)(?:\.|__)/.exec(tool)?.[1] ?? null;

export const runData = (data: RunStarted): AuditData => ({
  driver: data.driver,
  principal: data.principal.id,
  principal_kind: data.principal.kind,
  agent: data.agentName ?? null,
  request_digest: data.requestDigest,
  run_no: data.runNo ?? null,
});

export const resumedData = (data: RunResumed): AuditData => ({
  command_id: data.commandId,
  episode: data.episode,
});

export const turnData = (data: TurnRecorded): AuditData => ({
  turn: data.turn,
  call_count: data.callIds.length,
  input_tokens: data.inputTokens,
  output_tokens: data.outputTokens,
});

export const commandRefusedData = (data: CommandRefused): AuditData => ({
  command_id: data.commandId,
  error_code: data.code,
});

export const decidedData = (data: CallAllowed): AuditData => ({
  decision: 'allow',
  decision_no: data.decisionNo,
  decision_id: data.decisionId,
  tool: data.tool,
  namespace: namespaceOf(data.tool),
  contract_digest: data.contractDigest,
  arguments_digest: data.argumentsDigest,
  policy_digest: data.policyDigest,
  reasons: data.reasons,
  approval_id: data.approvalId,
});

export function approvalData(
  message: Message<'ApprovalRequested' | 'ApprovalDecided' | 'ApprovalRefused' | 'ApprovalExpired'>,
): AuditData {
  switch (message.type) {
    case 'ApprovalRequested': {
      const { data } = message;
      return {
        decision: 'ask',
        decision_no: data.decisionNo,
        approval_id: data.approvalId,
        approval_digest: data.digest,
        tool: data.tool,
        namespace: namespaceOf(data.tool),
        contract_digest: data.contractDigest,
        arguments_digest: data.argumentsDigest,
        policy_digest: data.policyDigest,
        requester: data.requester.id,
        approver_roles: data.approverRoles,
        reasons: data.reasons,
        risk: data.risk,
        side_effects: data.sideEffects,
        expires_at: data.expiresAt,
      };
    }
    case 'ApprovalDecided': {
      const { approvalId, digest, decision, approver, commandId } = message.data;
      return {
        approval_id: approvalId,
        approval_digest: digest,
        answer: decision,
        approver: approver.id,
        command_id: commandId,
      };
    }
    case 'ApprovalRefused':
      return {
        approval_id: message.data.approvalId,
        command_id: message.data.commandId,
        error_code: message.data.code,
      };
    case 'ApprovalExpired':
      return { approval_id: message.data.approvalId };
  }
}

export const grantReturnedData = (data: GrantReturned): AuditData => ({
  decision_no: data.decisionNo,
  error_code: data.reason,
});

export const grantRefusedData = (data: GrantRefused): AuditData => ({
  error_code: data.code,
  grant_digest: data.grantDigest,
  pool: data.pool,
});

export const settledData = (data: CallSettled): AuditData => ({
  status: data.status,
  effect: data.effect,
  error_code: data.error?.code ?? data.result?.fault?.code ?? null,
  settled_by: data.settledBy,
  decision: data.settledBy === 'executor' ? 'allow' : data.settledBy === 'policy' ? 'deny' : null,
  decision_no: data.decisionNo,
  approval_id: data.approvalId,
  // Without a contract it is a name that a model or a client made up.
  tool: data.contractDigest === null ? null : data.tool,
  namespace: data.contractDigest === null ? null : namespaceOf(data.tool),
  principal: data.principal?.id ?? null,
  contract_digest: data.contractDigest,
  arguments_digest: data.argumentsDigest,
  policy_digest: data.policyDigest,
  idempotency_key_hash: data.operationKeyHash,
  raw_digest: data.result?.rawDigest ?? null,
  sanitized_digest: data.result?.sanitizedDigest ?? null,
  model_digest: data.result?.modelDigest ?? null,
  redactions: data.result?.redactions ?? 0,
  truncated: data.result?.truncated != null,
  // Ids come from results: who knows one finds it, nobody reads one here.
  resource_digests: (data.result?.evidence.resourceIds ?? []).map((id) => digestText('resource/v1', id)),
  replayed: data.replayed,
  attempts: data.attempts,
  duration_ms: data.durationMs,
});
