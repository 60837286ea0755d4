import type { Incoming } from '#bus';
import type { Message, OutgoingMessage } from '#contracts';
import {
  answeredCommands,
  commandKey,
  insertAnswers,
  type CommandAnswer,
} from '../adapters/approval-command.repository.ts';
import { insertVotes, votersOf, type NewVote } from '../adapters/approval-vote.repository.ts';
import { approvalsById, endApprovals, type ApprovalEnd, type StoredApproval } from '../adapters/approval.repository.ts';
import { endAsked, latestDecisions, type StoredDecision } from '../adapters/decision.repository.ts';
import { countedVoters, NO_SUCH_APPROVAL, refuseDecision, refuseWithdrawal } from '../domain/approval.ts';
import {
  countedMessage,
  decidedMessage,
  editedMessages,
  refusedMessage,
  withdrawnMessage,
} from '../domain/approval-answers.ts';
import { fromVerdict, isOver } from '../domain/decide.ts';
import type { Decision } from '../domain/decision.ts';
import { checkEdit, editedCallId, type CheckInput } from '../domain/edit.ts';
import { decisionMessages } from '../domain/decision-messages.ts';
import { refusal } from '../domain/refusal.ts';
import type { KnownContracts } from './decision-maker.ts';
import type { PolicyParts } from './policy-parts.ts';
import { writeDrafts, type DraftToWrite } from './write-drafts.ts';

export type ApprovalCommand = 'DecideApproval' | 'EditApproval' | 'WithdrawApproval';
type Command = Message<ApprovalCommand>;

/** What one batch of commands looks at, and what it changes; written together. */
interface Batch {
  readonly approvals: Map<string, StoredApproval>;
  readonly decisions: ReadonlyMap<string, StoredDecision>;
  readonly voters: Map<string, readonly Message<'DecideApproval'>['data']['principal'][]>;
  readonly contracts: KnownContracts;
  /** By contract digest, for edits. */
  readonly inputs: ReadonlyMap<string, CheckInput>;
  readonly ends: ApprovalEnd[];
  readonly ended: Decision[];
  readonly drafts: DraftToWrite[];
  readonly votes: NewVote[];
  readonly answers: CommandAnswer[];
}

/**
 * DecideApproval, EditApproval, WithdrawApproval: what a person says counts once, for the exact call that was asked about.
 * The approvals' rows are held (in the order of their ids) while the batch is decided, so replicas and expiry take turns (A2).
 */
export function decideApprovals(parts: PolicyParts): (batch: readonly Incoming<ApprovalCommand>[]) => Promise<void> {
  const { maker, database, outbox } = parts;
  return async (incoming) => {
    const commands = new Map<string, Command>();
    for (const { message: command } of incoming) {
      const key = commandKey(command.tenant, command.data.commandId);
      if (!commands.has(key)) commands.set(key, command);
    }
    const ids = [...commands.values()].map((command) => command.data.approvalId);
    const seen = await approvalsById(database, ids);
    const callIds = [...seen.values()].map(({ approval }) => approval.callId);
    const calls = [...(await latestDecisions(database, callIds)).values()].map(({ proposal }) => proposal.call);
    const contracts = await maker.contractsOf(calls);
    const edits = [...commands.values()].some(({ type }) => type === 'EditApproval');
    const inputs = await maker.inputsOf(edits ? calls : []);
    const staged = await database.transaction(async (tx) => {
      const approvals = await approvalsById(tx, ids, true);
      const answered = await answeredCommands(
        tx,
        [...commands.values()].map((c) => ({ tenant: c.tenant, commandId: c.data.commandId })),
      );
      const decisions = await latestDecisions(tx, callIds);
      const several = [...approvals.values()].filter(({ approval }) => approval.request.quorum > 1);
      const voters = await votersOf(
        tx,
        several.map(({ approval }) => approval.approvalId),
      );
      const changes = { ends: [], ended: [], drafts: [], votes: [], answers: [] };
      const batch: Batch = { approvals, decisions, voters, contracts, inputs, ...changes };
      const repeats: OutgoingMessage[] = [];
      for (const [key, command] of commands) {
        const known = answered.get(key);
        if (known) repeats.push(...known);
        else
          batch.answers.push({
            tenant: command.tenant,
            commandId: command.data.commandId,
            messages: answer(parts, command, batch),
          });
      }
      await insertVotes(tx, batch.votes);
      await endApprovals(tx, batch.ends);
      await endAsked(tx, batch.ended);
      const { messages } = await writeDrafts(tx, batch.drafts);
      await insertAnswers(tx, batch.answers);
      return outbox.append(tx, [...repeats, ...batch.answers.flatMap((one) => one.messages), ...messages]);
    });
    outbox.emit(staged);
  };
}

function answer(parts: PolicyParts, command: Command, batch: Batch): readonly OutgoingMessage[] {
  const now = parts.clock.now();
  const found = batch.approvals.get(command.data.approvalId);
  const stored = found && batch.decisions.get(found.approval.callId);
  if (!found || !stored) return [refusedMessage(command, NO_SUCH_APPROVAL, now)];
  const overdue = isOver(
    { overdue: found.overdue, expiresAt: Date.parse(found.approval.request.expiresAt) },
    parts.clock.now(),
  );
  const facts = { found, stored, overdue, now };
  switch (command.type) {
    case 'DecideApproval':
      return decide(parts, command, facts, batch);
    case 'EditApproval':
      return edit(command, facts, batch);
    case 'WithdrawApproval':
      return withdraw(command, facts, batch);
  }
}

interface Facts {
  readonly found: StoredApproval;
  readonly stored: StoredDecision;
  readonly overdue: boolean;
  readonly now: number;
}

function decide(
  { maker }: PolicyParts,
  command: Message<'DecideApproval'>,
  facts: Facts,
  batch: Batch,
): readonly OutgoingMessage[] {
  const { data } = command;
  const { now } = facts;
  const { approval } = facts.found;
  const { decision, proposal } = facts.stored;
  const { approvalId, request } = approval;
  const refused = refuseDecision(approval, { ...data, ...idsOf(command) }, facts.overdue);
  if (refused) return [refusedMessage(command, refused, now)];
  if (data.decision === 'rejected') {
    const state = refusal('denied', 'APPROVAL_DENIED', 'A person rejected the call.', approvalId);
    const ended = end(command, 'rejected', state, facts, batch);
    return [decidedMessage(command, approval, now), ...decisionMessages(ended, proposal, undefined)];
  }
  const verdict = maker.judge(proposal, batch.contracts);
  if (decision.policyDigest !== maker.policyDigest || verdict.kind === 'deny') {
    batch.ended.push({ ...decision, state: { kind: 'superseded', approvalId }, decidedAt: now });
    mark(facts, 'superseded', batch);
    const outcome = { ...fromVerdict(verdict), voids: { approvalId, as: 'superseded' as const } };
    const draft = maker.draft(proposal, decision.decisionNo + 1, outcome, batch.contracts, now, decision.returns);
    batch.drafts.push({ ...draft, proposalBytes: null });
    return [refusedMessage(command, POLICY_CHANGED, now)];
  }
  const before = batch.voters.get(approvalId) ?? [];
  const approvers = countedVoters(request, [...before, data.principal]);
  if (before.some((voter) => voter.id === data.principal.id)) {
    const message = `You approved this already; ${approvers.length} of ${request.quorum} have.`;
    return [refusedMessage(command, { code: 'IDEMPOTENCY_CONFLICT', message }, now)];
  }
  if (request.quorum > 1) {
    batch.votes.push({ approvalId, principal: data.principal, commandId: data.commandId, at: now });
    batch.voters.set(approvalId, [...before, data.principal]);
  }
  if (approvers.length < request.quorum) return [countedMessage(command, approval, approvers.length, now)];
  const notAfter = Date.parse(request.expiresAt);
  const state = maker.grant(proposal, decision.decisionNo, { approvalId, approvers }, now, notAfter);
  const granted = end(command, 'approved', state, facts, batch);
  return [decidedMessage(command, approval, now), ...decisionMessages(granted, proposal, undefined)];
}

/** E1–E3 in domain/edit.ts. */
function edit(command: Message<'EditApproval'>, facts: Facts, batch: Batch): readonly OutgoingMessage[] {
  const { found, stored, now } = facts;
  const { approval } = found;
  const { proposal } = stored;
  const refused = refuseDecision(approval, { ...command.data, ...idsOf(command) }, facts.overdue);
  if (refused) return [refusedMessage(command, refused, now)];
  const digest = proposal.call.contractDigest;
  const checked = checkEdit(proposal, command.data, batch.contracts(digest), batch.inputs.get(digest));
  if (!checked.ok) return [refusedMessage(command, checked.refusal, now)];
  const { approvalId, runId } = approval;
  const text = 'An approver proposes other arguments.';
  const state = {
    ...refusal('denied', 'APPROVAL_DENIED', text, approvalId),
    replacedBy: editedCallId(runId, approvalId),
  };
  const ended = end(command, 'superseded', state, facts, batch);
  return [...editedMessages(command, approval, checked.edit, now), ...decisionMessages(ended, proposal, undefined)];
}

function withdraw(command: Message<'WithdrawApproval'>, facts: Facts, batch: Batch): readonly OutgoingMessage[] {
  const { approval } = facts.found;
  const refused = refuseWithdrawal(approval, { ...command.data, ...idsOf(command) }, facts.overdue);
  if (refused) return [refusedMessage(command, refused, facts.now)];
  const text = 'The request for approval was taken back.';
  const state = refusal('cancelled', 'CANCELLED', text, approval.approvalId);
  const ended = end(command, 'withdrawn', state, facts, batch);
  return [withdrawnMessage(command, facts.now), ...decisionMessages(ended, facts.stored.proposal, undefined)];
}

const idsOf = (command: Command): { tenant: string; callId: string } => ({
  tenant: command.tenant,
  callId: command.callId!,
});

/** Ends the approval and the decision that waited for it (P4). */
function end(
  { data }: Command,
  status: 'approved' | 'rejected' | 'withdrawn' | 'superseded',
  state: Decision['state'],
  facts: Facts,
  batch: Batch,
): Decision {
  const { commandId, principal, reason, approvalId } = data;
  const why = status === 'superseded' ? { why: 'edited' as const } : {};
  batch.ends.push({ approvalId, status, commandId, decidedBy: principal, at: facts.now, reason, ...why });
  mark(facts, status, batch);
  const ended = { ...facts.stored.decision, state, decidedAt: facts.now };
  batch.ended.push(ended);
  return ended;
}

/** Later commands of the batch meet what the earlier ones did. */
function mark({ found }: Facts, status: ApprovalEnd['status'], batch: Batch): void {
  const { approval } = found;
  batch.approvals.set(approval.approvalId, { ...found, approval: { ...approval, status } });
}

const POLICY_CHANGED = {
  code: 'APPROVAL_MISMATCH',
  message: 'Policy changed since the request; the call was judged again.',
} as const;
