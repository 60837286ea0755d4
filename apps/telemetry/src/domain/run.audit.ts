import { code, digest, name, number, word } from './audit-field.ts';
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
  CommandRefused: {
    name: 'command.refused',
    identity: (refused) => [refused.commandId, refused.code],
    fields: {
      command_id: name(({ commandId }) => commandId),
      error_code: code((refused) => refused.code),
    },
  },
} as const satisfies AuditRows;
