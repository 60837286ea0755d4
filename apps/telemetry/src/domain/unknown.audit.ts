import { digestText } from '#kernel';
import { code, digest, digests, name, names, namespace, number, toolName, word } from './audit-field.ts';
import type { AuditRows } from './audit-row.ts';
import { namespaceOf } from './namespace-of.ts';

/** What became known of unknown outcomes. Not terminal: it amends a record that said outcome_unknown, or a run's end. */
export const UNKNOWN_AUDIT = {
  CallReconciled: {
    name: 'call.reconciled',
    identity: ({ amendment }) => [amendment],
    fields: {
      amendment: number(({ amendment }) => amendment),
      reconciled_by: word(({ reconciledBy }) => reconciledBy),
      status: word(({ status }) => status),
      effect: word(({ effect }) => effect),
      error_code: code(({ error, result }) => error?.code ?? result?.fault?.code),
      tool: toolName(({ tool }) => tool),
      namespace: namespace(({ tool }) => namespaceOf(tool)),
      contract_digest: digest(({ contractDigest }) => contractDigest),
      idempotency_key_hash: name(({ operationKeyHash }) => operationKeyHash),
      principal: name(({ principal }) => principal?.id),
      command_id: name(({ commandId }) => commandId),
      undoes: name(({ undoes }) => undoes),
      proposed: word(({ proposed }) => proposed),
      // What a person wrote lies with the journal.
      evidence_digest: digest(({ evidenceDigest }) => evidenceDigest),
      raw_digest: digest(({ result }) => result?.rawDigest),
      sanitized_digest: digest(({ result }) => result?.sanitizedDigest),
      resource_digests: digests(({ result }) =>
        (result?.evidence.resourceIds ?? []).map((id) => digestText('resource/v1', id)),
      ),
    },
  },
  ResolutionRefused: {
    name: 'resolution.refused',
    identity: ({ commandId }) => [commandId],
    fields: {
      command_id: name(({ commandId }) => commandId),
      error_code: code((refused) => refused.code),
    },
  },
  RunAmended: {
    name: 'run.amended',
    identity: ({ amendment }) => [amendment],
    fields: {
      episode: number(({ episode }) => episode),
      amendment: number(({ amendment }) => amendment),
      outcome: word(({ outcome }) => outcome),
      compensation: word(({ compensation }) => compensation?.status),
      undone: names(({ compensation }) => compensation?.undone ?? []),
      remainder: names(({ compensation }) =>
        (compensation?.remainder ?? []).map((one) => `${one.callId}:${one.reason}`),
      ),
    },
  },
} as const satisfies AuditRows;
