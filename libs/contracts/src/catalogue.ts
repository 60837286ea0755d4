import type { z } from 'zod';
import * as approval from './messages/approval.schema.ts';
import * as call from './messages/call.schema.ts';
import * as model from './messages/model.schema.ts';
import * as run from './messages/run.schema.ts';

export type KeyKind = 'callId' | 'runId';

export interface CatalogueRow {
  readonly version: number;
  readonly schema: z.ZodType;
  /** Topic, or the family with `<pool>`. */
  readonly topic: string;
  /** Message key: the callId or the runId of the envelope. */
  readonly key: KeyKind;
  readonly kind: 'command' | 'fact';
  readonly producer: string;
  readonly consumers: readonly string[];
  readonly meaning: string;
}

const row = <S extends z.ZodType>(
  schema: S,
  rest: Omit<CatalogueRow, 'schema' | 'version'> & { version?: number },
) => ({ version: 1, ...rest, schema });

/** One row per message type: the only list of what travels on the bus. */
export const CATALOGUE = {
  StartRun: row(run.startRunSchema, {
    topic: 'run.commands',
    key: 'runId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['orchestrator'],
    meaning: 'Begin a run: an agent task, a client-driven run or one direct call.',
  }),
  ProposeCalls: row(run.proposeCallsSchema, {
    topic: 'run.commands',
    key: 'runId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['orchestrator'],
    meaning: 'Proposals of a client-driven run.',
  }),
  FinishRun: row(run.finishRunSchema, {
    topic: 'run.commands',
    key: 'runId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['orchestrator'],
    meaning: 'The client of a client-driven run is done.',
  }),
  CancelRun: row(run.cancelRunSchema, {
    topic: 'run.commands',
    key: 'runId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['orchestrator'],
    meaning: 'Begin nothing more in this run, wait for what is out, then end it as cancelled.',
  }),
  ResumeRun: row(run.resumeRunSchema, {
    topic: 'run.commands',
    key: 'runId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['orchestrator'],
    meaning: 'Go on with a run that ended as budget_exhausted, with raised limits.',
  }),
  RunStarted: row(run.runStartedSchema, {
    topic: 'run.events',
    key: 'runId',
    kind: 'fact',
    producer: 'orchestrator',
    consumers: ['gateway', 'state-store', 'telemetry'],
    meaning: 'The run was admitted.',
  }),
  CommandRefused: row(run.commandRefusedSchema, {
    topic: 'run.events',
    key: 'runId',
    kind: 'fact',
    producer: 'orchestrator',
    consumers: ['gateway', 'telemetry'],
    meaning: 'A command did not fit the run; nothing changed.',
  }),
  TurnRecorded: row(run.turnRecordedSchema, {
    topic: 'run.events',
    key: 'runId',
    kind: 'fact',
    producer: 'orchestrator',
    consumers: ['gateway', 'state-store', 'telemetry'],
    meaning: 'A model turn was folded into the run.',
  }),
  RunEnded: row(run.runEndedSchema, {
    topic: 'run.events',
    key: 'runId',
    kind: 'fact',
    producer: 'orchestrator',
    consumers: ['gateway', 'state-store', 'telemetry'],
    meaning: 'The run (this episode of it) is over.',
  }),
  RunResumed: row(run.runResumedSchema, {
    topic: 'run.events',
    key: 'runId',
    kind: 'fact',
    producer: 'orchestrator',
    consumers: ['gateway', 'state-store', 'telemetry'],
    meaning: 'A run that had ended goes on in its next episode.',
  }),
  RequestTurn: row(model.requestTurnSchema, {
    topic: 'model.requests',
    key: 'runId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['model-adapter'],
    meaning: 'Ask the model for its next turn.',
  }),
  TurnCompleted: row(model.turnCompletedSchema, {
    topic: 'model.responses',
    key: 'runId',
    kind: 'fact',
    producer: 'model-adapter',
    consumers: ['orchestrator'],
    meaning: 'The model answered: proposals, text or both.',
  }),
  TurnFailed: row(model.turnFailedSchema, {
    topic: 'model.responses',
    key: 'runId',
    kind: 'fact',
    producer: 'model-adapter',
    consumers: ['orchestrator'],
    meaning: 'The model gave no usable answer.',
  }),
  CallProposed: row(call.callProposedSchema, {
    topic: 'call.proposed',
    key: 'callId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['policy', 'telemetry', 'state-store'],
    meaning: 'A parsed, validated, normalized call awaits a decision; the right to settle goes to policy.',
  }),
  WithdrawCall: row(call.withdrawCallSchema, {
    topic: 'call.proposed',
    key: 'callId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['policy'],
    meaning: 'The run was cancelled: a call that waits for a person is to end; one that was granted goes on.',
  }),
  CallAllowed: row(call.callAllowedSchema, {
    topic: 'call.decided',
    key: 'callId',
    kind: 'fact',
    producer: 'policy',
    consumers: ['gateway', 'state-store', 'telemetry'],
    meaning: 'Policy allowed the call and minted a grant.',
  }),
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
  CallGranted: row(call.callGrantedSchema, {
    topic: 'call.granted.<pool>',
    key: 'callId',
    kind: 'command',
    producer: 'policy',
    consumers: ['executor'],
    meaning: 'A signed, single-use permission to perform one exact call; the right to settle goes to the pool.',
  }),
  GrantReturned: row(call.grantReturnedSchema, {
    topic: 'call.returned.<pool>',
    key: 'callId',
    kind: 'fact',
    producer: 'executor',
    consumers: ['policy', 'telemetry'],
    meaning: 'A grant that could not be used before the intent; not terminal.',
  }),
  GrantRefused: row(call.grantRefusedSchema, {
    topic: 'call.returned.<pool>',
    key: 'callId',
    kind: 'fact',
    producer: 'executor',
    consumers: ['telemetry'],
    meaning: 'A forged, foreign or misused grant: no effect, no settlement, audited.',
  }),
  CallSettled: row(call.callSettledSchema, {
    topic: 'call.settled.<pool> | call.decided | call.rejected',
    key: 'callId',
    kind: 'fact',
    producer: 'executor, policy or orchestrator',
    consumers: ['orchestrator', 'policy', 'gateway', 'state-store', 'telemetry'],
    meaning: 'The one terminal record of a call.',
  }),
} as const satisfies Record<string, CatalogueRow>;

export type MessageType = keyof typeof CATALOGUE;
export type MessageData<T extends MessageType> = z.infer<(typeof CATALOGUE)[T]['schema']>;
export const isMessageType = (type: string): type is MessageType => Object.hasOwn(CATALOGUE, type);
