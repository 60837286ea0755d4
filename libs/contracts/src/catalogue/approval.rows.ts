import * as approval from '../messages/approval.schema.ts';
import { row } from './catalogue-row.ts';

/** Approvals: what people are asked, and what they decide. */
export const APPROVAL_ROWS = {
  ApprovalRequested: row(approval.approvalRequestedSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['orchestrator', 'gateway', 'state-store', 'telemetry'],
    meaning: 'A person must decide.',
  }),
  ApprovalDecided: row(approval.approvalDecidedSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['orchestrator', 'gateway', 'state-store', 'telemetry'],
    meaning: 'A person decided, once.',
  }),
  ApprovalCounted: row(approval.approvalCountedSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['gateway', 'telemetry'],
    meaning: 'One of several approvals that the call needs.',
  }),
  ApprovalSuperseded: row(approval.approvalSupersededSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['telemetry'],
    meaning: 'What was asked is no longer what would run; another request, or none, takes its place.',
  }),
  ApprovalWithdrawn: row(approval.approvalWithdrawnSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['gateway', 'telemetry'],
    meaning: 'The requester, or who keeps the run, took the question back.',
  }),
  ApprovalRefused: row(approval.approvalRefusedSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['gateway', 'telemetry'],
    meaning: 'A decision that does not count, with the reason; nothing changed.',
  }),
  ApprovalExpired: row(approval.approvalExpiredSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['state-store', 'telemetry'],
    meaning: 'Nobody decided in time.',
  }),
  DecideApproval: row(approval.decideApprovalSchema, {
    topic: 'approval.commands',
    key: 'callId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['policy'],
    meaning: 'A person approves or rejects one exact call.',
  }),
  WithdrawApproval: row(approval.withdrawApprovalSchema, {
    topic: 'approval.commands',
    key: 'callId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['policy'],
    meaning: 'The requester, or who keeps the run, takes the question back.',
  }),
} as const;
