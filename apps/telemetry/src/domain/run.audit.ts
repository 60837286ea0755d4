import { digestText } from '#kernel';
import { code, digest, digests, instant, name, names, number, word } from './audit-field.ts';
import type { AuditRows } from './audit-row.ts';

export const RUN_AUDIT = {
  RunStarted: {
    name: 'run.started',
    fields: {
      driver: word((run) => run.driver),
      principal: name((run) => run.principal.id),
      principal_kind: word((run) => run.principal.kind),
      agent: name((run) => run.agentName),
      request_digest: digest((run) => run.requestDigest),
      run_no: number((run) => run.runNo),
    },
  },
  TurnRecorded: {
    name: 'turn.recorded',
    identity: ({ turn }) => [turn],
    fields: {
      turn: number(({ turn }) => turn),
      call_count: number(({ callIds }) => callIds.length),
      input_tokens: number(({ inputTokens }) => inputTokens),
      output_tokens: number(({ outputTokens }) => outputTokens),
      stage: name(({ stage }) => stage?.name),
    },
  },
  RunEnded: {
    name: 'run.ended',
    identity: ({ episode }) => [episode],
    fields: {
      status: word(({ status }) => status),
      outcome: word(({ outcome }) => outcome),
      error_code: code(({ cause }) => cause?.code),
      episode: number(({ episode }) => episode),
      call_count: number(({ callCount }) => callCount),
      calls_digest: digest(({ callsDigest }) => callsDigest),
      turns: number(({ turns }) => turns),
    },
  },
  RunResumed: {
    name: 'run.resumed',
    identity: ({ episode }) => [episode],
    fields: {
      command_id: name(({ commandId }) => commandId),
      episode: number(({ episode }) => episode),
    },
  },
  CompensationAsked: {
    name: 'compensation.asked',
    fields: {
      compensation_calls: names(({ callIds }) => callIds),
      expires_at: instant(({ expiresAt }) => expiresAt),
    },
  },
  CompensationStarted: {
    name: 'compensation.started',
    identity: ({ round }) => [round],
    fields: {
      round: number(({ round }) => round),
      episode: number(({ episode }) => episode),
      command_id: name(({ commandId }) => commandId),
      principal: name(({ by }) => by),
      compensation_calls: names(({ callIds }) => callIds),
      // What a person said of each call that was left; the reason and the evidence as their digest.
      leftovers: names(({ leftovers }) => leftovers.map(({ callId, how }) => `${callId}:${how}`)),
      leftover_digests: digests(({ leftovers }) =>
        leftovers.map((one) =>
          digestText('leftover/v1', one.how === 'skip' ? one.reason : one.how === 'done' ? one.evidence : ''),
        ),
      ),
    },
  },
  CompensationEnded: {
    name: 'compensation.ended',
    identity: ({ round }) => [round],
    fields: {
      round: number(({ round }) => round),
      episode: number(({ episode }) => episode),
      status: word(({ status }) => status),
      undone: names(({ undone }) => undone),
      skipped: names(({ skipped }) => skipped),
      remainder: names(({ remainder }) => remainder.map(({ callId, reason }) => `${callId}:${reason}`)),
      kept: names(({ kept }) => kept),
    },
  },
  RunControlled: {
    name: 'run.controlled',
    identity: ({ no }) => [no],
    // Not the reason: it is a person's text.
    fields: {
      command_id: name(({ commandId }) => commandId),
      control: word(({ control }) => control),
      control_no: number(({ no }) => no),
      principal: name(({ by }) => by),
    },
  },
  CommandRefused: {
    name: 'command.refused',
    identity: (refused) => [refused.commandId, refused.code],
    fields: {
      command_id: name(({ commandId }) => commandId),
      error_code: code((refused) => refused.code),
    },
  },
} as const satisfies AuditRows;
