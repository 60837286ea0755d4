import { digestText } from '#kernel';
import { code, digest, digests, flag, name, names, namespace, number, toolName, word } from './audit-field.ts';
import type { AuditRows } from './audit-row.ts';
import { namespaceOf } from './namespace-of.ts';

const DECISION_OF = { executor: 'allow', policy: 'deny', orchestrator: null } as const;

export const CALL_AUDIT = {
  CallAllowed: {
    name: 'call.decided',
    identity: ({ decisionNo }) => [decisionNo],
    fields: {
      decision: word(() => 'allow'),
      decision_no: number(({ decisionNo }) => decisionNo),
      decision_id: name(({ decisionId }) => decisionId),
      tool: toolName(({ tool }) => tool),
      namespace: namespace(({ tool }) => namespaceOf(tool)),
      contract_digest: digest(({ contractDigest }) => contractDigest),
      arguments_digest: digest(({ argumentsDigest }) => argumentsDigest),
      policy_digest: digest(({ policyDigest }) => policyDigest),
      reasons: names(({ reasons }) => reasons),
      approval_id: name(({ approvalId }) => approvalId),
    },
  },
  GrantReturned: {
    name: 'grant.returned',
    identity: ({ decisionNo, reason }) => [decisionNo, reason],
    fields: {
      decision_no: number(({ decisionNo }) => decisionNo),
      error_code: code(({ reason }) => reason),
    },
  },
  GrantRefused: {
    name: 'grant.refused',
    identity: (refused) => [refused.grantDigest, refused.code, refused.pool],
    fields: {
      error_code: code((refused) => refused.code),
      grant_digest: digest(({ grantDigest }) => grantDigest),
      pool: name(({ pool }) => pool),
    },
  },
  /** The one terminal record of a call: its callId alone names it. */
  CallSettled: {
    name: 'call.settled',
    fields: {
      status: word(({ status }) => status),
      cancellation: word(({ cancellation }) => cancellation?.state),
      cancellation_evidence: word(({ cancellation }) => cancellation?.evidence),
      effect: word(({ effect }) => effect),
      error_code: code(({ error, result }) => error?.code ?? result?.fault?.code),
      settled_by: word(({ settledBy }) => settledBy),
      decision: word(({ settledBy }) => DECISION_OF[settledBy]),
      decision_no: number(({ decisionNo }) => decisionNo),
      approval_id: name(({ approvalId }) => approvalId),
      // Without a contract it is a name that a model or a client made up.
      tool: toolName(({ contractDigest, tool }) => (contractDigest === null ? null : tool)),
      namespace: namespace(({ contractDigest, tool }) => (contractDigest === null ? null : namespaceOf(tool))),
      principal: name(({ principal }) => principal?.id),
      contract_digest: digest(({ contractDigest }) => contractDigest),
      arguments_digest: digest(({ argumentsDigest }) => argumentsDigest),
      policy_digest: digest(({ policyDigest }) => policyDigest),
      idempotency_key_hash: name(({ operationKeyHash }) => operationKeyHash),
      raw_digest: digest(({ result }) => result?.rawDigest),
      sanitized_digest: digest(({ result }) => result?.sanitizedDigest),
      model_digest: digest(({ result }) => result?.modelDigest),
      redactions: number(({ result }) => result?.redactions ?? 0),
      truncated: flag(({ result }) => result?.truncated != null),
      // Ids come from results: who knows one finds it, nobody reads one here.
      resource_digests: digests(({ result }) =>
        (result?.evidence.resourceIds ?? []).map((id) => digestText('resource/v1', id)),
      ),
      replayed: flag(({ replayed }) => replayed),
      undoes: name(({ undoes }) => undoes),
      replaced_by: name(({ error }) => error?.replacedBy),
      attempts: number(({ attempts }) => attempts),
      duration_ms: number(({ durationMs }) => durationMs),
    },
  },
  /** One that came after the settlement; what an earlier one came to stands there. */
  CallCancellation: {
    name: 'call.cancellation',
    fields: {
      cancellation: word(({ state }) => state),
      cancellation_evidence: word(({ evidence }) => evidence),
    },
  },
} as const satisfies AuditRows;
