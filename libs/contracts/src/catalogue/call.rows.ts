import * as call from '../messages/call.schema.ts';
import * as cancellation from '../messages/cancellation.schema.ts';
import { row } from './catalogue-row.ts';

/** Calls on their way from proposal to settlement. */
export const CALL_ROWS = {
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
  CallGranted: row(call.callGrantedSchema, {
    topic: 'call.granted.<pool>',
    key: 'callId',
    kind: 'command',
    producer: 'policy',
    consumers: ['executor'],
    meaning: 'A signed, single-use permission to perform one exact call; the right to settle goes to the pool.',
  }),
  CancelGranted: row(cancellation.cancelGrantedSchema, {
    topic: 'call.granted.<pool>',
    key: 'callId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['executor'],
    meaning: 'The run ends: a call that has not begun must not begin; a running tool is told to stop.',
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
  CallCancellation: row(cancellation.callCancellationSchema, {
    topic: 'call.settled.<pool>',
    key: 'callId',
    kind: 'fact',
    producer: 'executor',
    consumers: ['orchestrator', 'state-store', 'telemetry'],
    meaning: 'A cancellation came after the call was settled: what it found. An earlier one stands in CallSettled.',
  }),
} as const;
