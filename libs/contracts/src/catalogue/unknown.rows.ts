import * as unknown from '../messages/unknown.schema.ts';
import { row } from './catalogue-row.ts';

/** Calls whose outcome was unknown, and how it was found out. */
export const UNKNOWN_ROWS = {
  ResolveCall: row(unknown.resolveCallSchema, {
    topic: 'run.commands',
    key: 'runId',
    kind: 'command',
    producer: 'gateway',
    consumers: ['orchestrator'],
    meaning: 'A person says, with evidence, what became of a call whose outcome is unknown.',
  }),
  ReconcileCall: row(unknown.reconcileCallSchema, {
    topic: 'call.granted.<pool>',
    key: 'callId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['executor'],
    meaning: "The same, for the pool that holds the call's record.",
  }),
  CloseUndone: row(unknown.closeUndoneSchema, {
    topic: 'call.granted.<pool>',
    key: 'callId',
    kind: 'command',
    producer: 'orchestrator',
    consumers: ['executor'],
    meaning: "A person took the call's effect back by other means: its operation key may act again.",
  }),
  ResolutionRefused: row(unknown.resolutionRefusedSchema, {
    topic: 'call.settled.<pool>',
    key: 'callId',
    kind: 'fact',
    producer: 'executor',
    consumers: ['gateway', 'telemetry'],
    meaning: 'The pool has no record of the call that a person resolves; nothing changed.',
  }),
  CallReconciled: row(unknown.callReconciledSchema, {
    topic: 'call.settled.<pool>',
    key: 'callId',
    kind: 'fact',
    producer: 'executor',
    consumers: ['orchestrator', 'policy', 'gateway', 'state-store', 'telemetry'],
    meaning: 'Amends an unknown outcome: found out by a probe, a person or a late answer, or left to a person.',
  }),
} as const;
