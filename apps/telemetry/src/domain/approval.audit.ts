import { code, digest, instant, name, names, namespace, number, toolName, word } from './audit-field.ts';
import type { AuditRows } from './audit-row.ts';
import { namespaceOf } from './namespace-of.ts';

export const APPROVAL_AUDIT = {
  ApprovalRequested: {
    name: 'approval.requested',
    identity: ({ approvalId }) => [approvalId],
    fields: {
      decision: word(() => 'ask'),
      decision_no: number(({ decisionNo }) => decisionNo),
      approval_id: name(({ approvalId }) => approvalId),
      approval_digest: digest((asked) => asked.digest),
      tool: toolName(({ tool }) => tool),
      namespace: namespace(({ tool }) => namespaceOf(tool)),
      contract_digest: digest(({ contractDigest }) => contractDigest),
      arguments_digest: digest(({ argumentsDigest }) => argumentsDigest),
      policy_digest: digest(({ policyDigest }) => policyDigest),
      requester: name(({ requester }) => requester.id),
      approver_roles: names(({ approverRoles }) => approverRoles),
      quorum: number(({ quorum }) => quorum),
      reasons: names(({ reasons }) => reasons),
      risk: word(({ risk }) => risk),
      side_effects: word(({ sideEffects }) => sideEffects),
      expires_at: instant(({ expiresAt }) => expiresAt),
    },
  },
  ApprovalCounted: {
    name: 'approval.counted',
    identity: ({ approvalId, approver }) => [approvalId, approver.id],
    fields: {
      approval_id: name(({ approvalId }) => approvalId),
      approval_digest: digest((counted) => counted.digest),
      approver: name(({ approver }) => approver.id),
      command_id: name(({ commandId }) => commandId),
      approvals: number(({ count }) => count),
      quorum: number(({ quorum }) => quorum),
    },
  },
  ApprovalDecided: {
    name: 'approval.decided',
    identity: ({ approvalId }) => [approvalId],
    fields: {
      approval_id: name(({ approvalId }) => approvalId),
      approval_digest: digest((decided) => decided.digest),
      answer: word(({ decision }) => decision),
      approver: name(({ approver }) => approver.id),
      command_id: name(({ commandId }) => commandId),
    },
  },
  ApprovalRefused: {
    name: 'approval.refused',
    identity: (refused) => [refused.approvalId, refused.commandId, refused.code],
    fields: {
      approval_id: name(({ approvalId }) => approvalId),
      command_id: name(({ commandId }) => commandId),
      error_code: code((refused) => refused.code),
    },
  },
  ApprovalSuperseded: {
    name: 'approval.superseded',
    identity: ({ approvalId }) => [approvalId],
    fields: {
      approval_id: name(({ approvalId }) => approvalId),
      why: word(({ why }) => why),
      replaced_by: name(({ replacedBy }) => replacedBy),
    },
  },
  ApprovalEdited: {
    name: 'approval.edited',
    identity: ({ approvalId }) => [approvalId],
    fields: {
      approval_id: name(({ approvalId }) => approvalId),
      approval_digest: digest((edited) => edited.digest),
      editor: name(({ editor }) => editor.id),
      command_id: name(({ commandId }) => commandId),
      replaced_by: name(({ replacedBy }) => replacedBy),
      arguments_digest: digest(({ argumentsDigest }) => argumentsDigest),
    },
  },
  ApprovalWithdrawn: {
    name: 'approval.withdrawn',
    identity: ({ approvalId }) => [approvalId],
    fields: {
      approval_id: name(({ approvalId }) => approvalId),
      principal: name(({ by }) => by.id),
      command_id: name(({ commandId }) => commandId),
    },
  },
  ApprovalExpired: {
    name: 'approval.expired',
    identity: ({ approvalId }) => [approvalId],
    fields: { approval_id: name(({ approvalId }) => approvalId) },
  },
} as const satisfies AuditRows;
