import { message, outgoing, TOPICS, type Message, type OutgoingMessage } from '#contracts';
import { derivedId } from '#kernel';
import type { Approval, ApprovalRefusal } from './approval.ts';
import { editedCallId, type Edit } from './edit.ts';

/** What answers a person's command; a repeat of the command gets the same bytes. */
type Command = Message<'DecideApproval' | 'EditApproval' | 'WithdrawApproval'>;

const contextOf = (command: Command, type: string, now: number) => ({
  tenant: command.tenant,
  runId: command.runId!,
  callId: command.callId!,
  causationId: command.id,
  correlationId: command.correlationId,
  now,
  id: derivedId('msg', command.tenant, command.data.commandId, type),
});

export function refusedMessage(
  command: Command,
  { code, message: text, details = [] }: ApprovalRefusal,
  now: number,
): OutgoingMessage {
  const { commandId, approvalId } = command.data;
  return outgoing(
    TOPICS.callDecided,
    message('ApprovalRefused', contextOf(command, 'ApprovalRefused', now), {
      commandId,
      approvalId,
      code,
      message: text,
      ...(details.length === 0 ? {} : { details }),
    }),
  );
}

export function decidedMessage(command: Message<'DecideApproval'>, approval: Approval, now: number): OutgoingMessage {
  const { commandId, approvalId, decision, principal, reason } = command.data;
  return outgoing(
    TOPICS.callDecided,
    message('ApprovalDecided', contextOf(command, 'ApprovalDecided', now), {
      commandId,
      approvalId,
      digest: approval.request.digest,
      decision,
      approver: principal,
      reason,
    }),
  );
}

export function countedMessage(
  command: Message<'DecideApproval'>,
  { request }: Approval,
  count: number,
  now: number,
): OutgoingMessage {
  const { commandId, approvalId, principal } = command.data;
  return outgoing(
    TOPICS.callDecided,
    message('ApprovalCounted', contextOf(command, 'ApprovalCounted', now), {
      commandId,
      approvalId,
      digest: request.digest,
      approver: principal,
      count,
      quorum: request.quorum,
    }),
  );
}

export function withdrawnMessage(command: Message<'WithdrawApproval'>, now: number): OutgoingMessage {
  const { commandId, approvalId, principal, reason } = command.data;
  return outgoing(
    TOPICS.callDecided,
    message('ApprovalWithdrawn', contextOf(command, 'ApprovalWithdrawn', now), {
      commandId,
      approvalId,
      by: principal,
      reason,
    }),
  );
}

/** What is no longer asked, and what is proposed instead. */
export function editedMessages(
  command: Message<'EditApproval'>,
  { request, runId }: Approval,
  edit: Edit,
  now: number,
): OutgoingMessage[] {
  const { commandId, approvalId, principal: editor, reason } = command.data;
  const superseded = { approvalId, why: 'edited' as const, replacedBy: null };
  const replacedBy = editedCallId(runId, approvalId);
  const edited = { commandId, approvalId, digest: request.digest, editor, reason, replacedBy, ...edit };
  return [
    outgoing(
      TOPICS.callDecided,
      message('ApprovalSuperseded', contextOf(command, 'ApprovalSuperseded', now), superseded),
    ),
    outgoing(TOPICS.callDecided, message('ApprovalEdited', contextOf(command, 'ApprovalEdited', now), edited)),
  ];
}
