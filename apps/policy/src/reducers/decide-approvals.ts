import type { Incoming } from '#bus';
import { message, outgoing, TOPICS, type Message, type OutgoingMessage } from '#contracts';
import { derivedId } from '#kernel';
import {
  answeredCommands,
  commandKey,
  insertAnswers,
  type CommandAnswer,
} from '../adapters/approval-command.repository.ts';
import { approvalsById, endApprovals, type ApprovalEnd, type StoredApproval } from '../adapters/approval.repository.ts';
import { endAsked, latestDecisions, type StoredDecision } from '../adapters/decision.repository.ts';
import { refuseDecision, type Approval, type ApprovalRefusal } from '../domain/approval.ts';
import { fromVerdict } from '../domain/decide.ts';
import type { Decision } from '../domain/decision.ts';
import { decisionMessages } from '../domain/decision-messages.ts';
import { refusal } from '../domain/refusal.ts';
import type { KnownContracts } from './decision-maker.ts';
import type { PolicyParts } from './policy-parts.ts';
import { superseded, writeDrafts, type DraftToWrite } from './write-drafts.ts';

type Command = Message<'DecideApproval'>;

/** What one batch of commands changes; written together. */
interface Changes {
  readonly ends: ApprovalEnd[];
  readonly ended: Decision[];
  readonly drafts: DraftToWrite[];
  readonly answers: CommandAnswer[];
}

/**
 * DecideApproval: a person's decision counts once, for the exact call that was asked about.
 * The approvals' rows are held (in the order of their ids) while the batch is decided, so replicas and expiry take turns.
 */
export function decideApprovals(parts: PolicyParts): (batch: readonly Incoming<'DecideApproval'>[]) => Promise<void> {
  const { maker, database, outbox } = parts;
  return async (batch) => {
    const commands = new Map<string, Command>();
    for (const { message: command } of batch) {
      const key = commandKey(command.tenant, command.data.commandId);
      if (!commands.has(key)) commands.set(key, command);
    }
    const ids = [...commands.values()].map((command) => command.data.approvalId);
    const seen = await approvalsById(database, ids);
    const callIds = [...seen.values()].map(({ approval }) => approval.callId);
    const contracts = await maker.contractsOf(
      [...(await latestDecisions(database, callIds)).values()].map(({ proposal }) => proposal.call),
    );
    const staged = await database.transaction(async (tx) => {
      const approvals = await approvalsById(tx, ids, true);
      const answered = await answeredCommands(
        tx,
        [...commands.values()].map((c) => ({ tenant: c.tenant, commandId: c.data.commandId })),
      );
      const decisions = await latestDecisions(tx, callIds);
      const changes: Changes = { ends: [], ended: [], drafts: [], answers: [] };
      const repeats: OutgoingMessage[] = [];
      for (const [key, command] of commands) {
        const known = answered.get(key);
        if (known) repeats.push(...known);
        else decideOne(parts, command, approvals, decisions, contracts, changes);
      }
      await endApprovals(tx, changes.ends);
      await endAsked(tx, changes.ended);
      const { messages } = await writeDrafts(tx, changes.drafts);
      await insertAnswers(tx, changes.answers);
      return outbox.append(tx, [...repeats, ...changes.answers.flatMap((answer) => answer.messages), ...messages]);
    });
    outbox.emit(staged);
  };
}

function decideOne(
  { maker, clock }: PolicyParts,
  command: Command,
  approvals: Map<string, StoredApproval>,
  decisions: Map<string, StoredDecision>,
  contracts: KnownContracts,
  changes: Changes,
): void {
  const { data } = command;
  const now = clock.now();
  const found = approvals.get(data.approvalId);
  const stored = found && decisions.get(found.approval.callId);
  const refused = refuseDecision(
    found?.approval,
    { ...data, tenant: command.tenant, callId: command.callId! },
    found?.overdue ?? false,
  );
  const answer = (messages: readonly OutgoingMessage[]): void =>
    void changes.answers.push({ tenant: command.tenant, commandId: data.commandId, messages });
  if (refused || !found || !stored) return answer([refusedMessage(command, refused ?? NOT_FOUND, now)]);
  const { approval } = found;
  const { decision, proposal } = stored;
  const end = (status: ApprovalEnd['status'], state: Decision['state']): Decision => {
    const by =
      status === 'superseded'
        ? superseded(approval.approvalId, now)
        : {
            approvalId: approval.approvalId,
            status,
            commandId: data.commandId,
            decidedBy: data.principal,
            at: now,
            reason: data.reason,
          };
    changes.ends.push(by);
    approvals.set(approval.approvalId, { ...found, approval: { ...approval, status } });
    const ended = { ...decision, state, decidedAt: now };
    changes.ended.push(ended);
    return ended;
  };
  if (data.decision === 'rejected') {
    const ended = end(
      'rejected',
      refusal('denied', 'APPROVAL_DENIED', 'A person rejected the call.', approval.approvalId),
    );
    return answer([decidedMessage(command, approval, now), ...decisionMessages(ended, proposal, undefined)]);
  }
  const verdict = maker.judge(proposal, contracts);
  if (decision.policyDigest !== maker.policyDigest || verdict.kind === 'deny') {
    end('superseded', { kind: 'superseded', approvalId: approval.approvalId });
    const draft = maker.draft(
      proposal,
      decision.decisionNo + 1,
      fromVerdict(verdict),
      contracts,
      now,
      decision.returns,
    );
    changes.drafts.push({ ...draft, proposalBytes: null });
    return answer([refusedMessage(command, POLICY_CHANGED, now)]);
  }
  const granted = end(
    'approved',
    maker.grant(proposal, decision.decisionNo, { approvalId: approval.approvalId, approver: data.principal.id }, now),
  );
  answer([decidedMessage(command, approval, now), ...decisionMessages(granted, proposal, undefined)]);
}

const NOT_FOUND: ApprovalRefusal = { code: 'NOT_FOUND', message: 'There is no such approval.' };
const POLICY_CHANGED: ApprovalRefusal = {
  code: 'APPROVAL_MISMATCH',
  message: 'Policy changed since the request; the call was judged again.',
};

const contextOf = (command: Command, type: string, now: number) => ({
  tenant: command.tenant,
  runId: command.runId!,
  callId: command.callId!,
  causationId: command.id,
  correlationId: command.correlationId,
  now,
  id: derivedId('msg', command.tenant, command.data.commandId, type),
});

function refusedMessage(command: Command, { code, message: text }: ApprovalRefusal, now: number): OutgoingMessage {
  const { commandId, approvalId } = command.data;
  return outgoing(
    TOPICS.callDecided,
    message('ApprovalRefused', contextOf(command, 'ApprovalRefused', now), {
      commandId,
      approvalId,
      code,
      message: text,
    }),
  );
}

function decidedMessage(command: Command, approval: Approval, now: number): OutgoingMessage {
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
