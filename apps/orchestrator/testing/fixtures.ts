import {
  fillBudgets,
  toolContractSchema,
  toolKey,
  type Budgets,
  type CallReconciled,
  type CallSettled,
  type StartRun,
  type ToolContract,
  type ToolContractInput,
} from '#contracts';
import { callIdOf, digestJson, runIdOfCall } from '#kernel';
import { compileInput, contractDigest } from '#registry';
import type { ContractShelf } from '../src/domain/saga.types.ts';

const common = {
  namespace: 'ops',
  version: '1.0.0',
  title: 'A tool',
  description: 'A tool of the tests',
  whenToUse: 'In tests',
  whenNotToUse: 'Elsewhere',
  output: { type: 'object' },
  execution: { kind: 'local', pool: 'default' },
} as const;

const tool = (own: Partial<ToolContractInput> & Pick<ToolContractInput, 'name' | 'layer' | 'input'>): ToolContract =>
  toolContractSchema.parse({ ...common, sideEffects: own.layer === 'read' ? 'none' : 'reversible', ...own });

const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

export const CONTRACTS: readonly ToolContract[] = [
  tool({
    name: 'read_alerts',
    layer: 'read',
    input: object({ service: { type: 'string' }, window_minutes: { type: 'integer', default: 30 } }, ['service']),
    resources: ['service:{service}'],
    result: { maxBytes: 4096, redact: [], sourceIds: '/alerts/*/id' },
  }),
  tool({ name: 'list_regions', layer: 'read', input: object({}) }),
  tool({
    name: 'create_ticket',
    layer: 'write',
    input: object(
      {
        severity: { enum: ['sev1', 'sev2'] },
        summary: { type: 'string' },
        evidence_ids: { type: 'array', items: { type: 'string' }, minItems: 1 },
      },
      ['severity', 'summary', 'evidence_ids'],
    ),
    evidenceArgument: 'evidence_ids',
    resources: ['ticket-queue'],
    idempotency: { mode: 'key', template: '{task}', place: { header: 'Idempotency-Key' } },
  }),
  tool({
    name: 'set_flag',
    layer: 'write',
    input: object({ name: { type: 'string' }, on: { type: 'boolean', default: true } }, ['name']),
    resources: ['flag:{name}'],
    concurrency: 'per_resource',
    idempotency: { mode: 'none' },
    approval: { mode: 'policy' },
  }),
  tool({
    name: 'team_note',
    layer: 'write',
    input: object({ text: { type: 'string' } }, ['text']),
    idempotency: { mode: 'natural' },
    execution: { kind: 'local', pool: 'other' },
  }),
];

const refOf = (contract: ToolContract) => ({ tool: toolKey(contract), digest: contractDigest(contract) });
const shelfOf = (contracts: readonly ToolContract[]): ContractShelf =>
  new Map(
    contracts.map((contract) => {
      const validator = compileInput(contract);
      return [contractDigest(contract), { contract, validate: (args: unknown) => validator.validate(args) }];
    }),
  );
export const TOOLSET = CONTRACTS.map(refOf);
export const SHELF = shelfOf(CONTRACTS);

/** Tools of the files of cases, in a namespace of the tests. */
export function toolsOf(given: readonly Pick<ToolContractInput, 'name' | 'layer' | 'input'>[]) {
  const contracts = given.map(tool);
  return { toolset: contracts.map(refOf), shelf: shelfOf(contracts) };
}

export const ALICE = { id: 'user:alice', kind: 'user', roles: ['agent'] } as const;
export const alice = { ...ALICE, roles: [...ALICE.roles] };
export const BUDGETS: Budgets = fillBudgets();
export const AGENT = { name: 'triage', provider: 'openai-responses', model: 'model-x', instructions: 'Help.' } as const;

export function startData(driver: StartRun['driver'], own: Partial<StartRun> = {}): StartRun {
  const data = {
    commandId: 'cmd-1',
    driver,
    principal: alice,
    toolset: TOOLSET,
    budgets: BUDGETS,
    labels: {},
    proposals: [],
    ...(driver === 'agent' ? { agent: AGENT, input: 'What is wrong?' } : {}),
    ...own,
  };
  return { ...data, requestDigest: own.requestDigest ?? digestJson('test/v1', data) };
}

/** A settlement as an executor of the pool publishes it. */
export function settledData(own: Partial<CallSettled> & { sources?: string[]; model?: string } = {}): CallSettled {
  const { sources = [], model = '{"done":true}', ...rest } = own;
  const digest = `sha256:${'0'.repeat(64)}`;
  const succeeded = (own.status ?? 'succeeded') === 'succeeded';
  return {
    settledBy: 'executor',
    status: 'succeeded',
    tool: 'ops.x@1.0.0',
    contractDigest: digest,
    argumentsDigest: digest,
    decisionNo: 1,
    approvalId: null,
    policyDigest: digest,
    operationKeyHash: null,
    effect: 'none',
    replayed: false,
    attempts: 1,
    durationMs: 3,
    error: null,
    result: succeeded
      ? {
          rawDigest: digest,
          sanitizedDigest: digest,
          modelDigest: digest,
          sanitized: { done: true },
          model,
          truncated: null,
          redactions: 0,
          evidence: { resourceIds: [], sources: sources.map((id) => ({ id })) },
          fault: null,
        }
      : null,
    ...rest,
  };
}

export const failedData = (
  status: CallSettled['status'],
  code: 'TOOL_ERROR' | 'OUTCOME_UNKNOWN' | 'PERMISSION_DENIED' | 'APPROVAL_DENIED' = 'TOOL_ERROR',
): CallSettled =>
  settledData({
    status,
    effect: status === 'outcome_unknown' ? 'unknown' : 'none',
    error: { code, message: 'It did not work', retryable: false },
  });

/** Unknown, and the runtime itself is finding it out. */
export const soughtData = (): CallSettled => {
  const data = failedData('outcome_unknown', 'OUTCOME_UNKNOWN');
  return { ...data, error: { ...data.error!, humanTakeover: false } };
};

export const DIGEST = `sha256:${'1'.repeat(64)}`;

export const approvalData = (approvalId: string, decisionNo = 1, expiresAt = '2030-01-01T00:00:00.000Z') => ({
  approvalId,
  decisionNo,
  digest: DIGEST,
  tool: 'ops.x@1.0.0',
  contractDigest: DIGEST,
  argumentsDigest: DIGEST,
  policyDigest: DIGEST,
  arguments: {},
  origins: {},
  resources: [],
  risk: 'low',
  sideEffects: 'reversible',
  requester: alice,
  approverRoles: ['approver'],
  forbidSelf: true,
  quorum: 1,
  reasons: [],
  expiresAt,
});

export const decisionData = (approvalId: string, decision: 'approved' | 'rejected' = 'approved') => ({
  commandId: 'cmd-2',
  approvalId,
  digest: DIGEST,
  decision,
  approver: { id: 'user:bob', kind: 'user' as const, roles: ['approver'] },
  reason: null,
});

/** What a probe found out of an unknown outcome, as an executor publishes it. */
export const reconciledData = (own: Partial<CallReconciled> = {}): CallReconciled => ({
  amendment: 1,
  reconciledBy: 'probe',
  status: 'succeeded',
  effect: 'applied',
  tool: 'ops.set_flag@1.0.0',
  contractDigest: `sha256:${'0'.repeat(64)}`,
  operationKeyHash: 'h',
  commandId: null,
  principal: null,
  proposed: null,
  evidence: 'seen',
  evidenceDigest: `sha256:${'0'.repeat(64)}`,
  error: null,
  result: null,
  ...own,
});

/** A person wrote these arguments for the call of `appr-<callId>`. */
export const editedData = (callId: string, args: Record<string, unknown>) => ({
  commandId: 'cmd-e',
  approvalId: `appr-${callId}`,
  digest: DIGEST,
  editor: { id: 'user:bob', kind: 'user' as const, roles: ['approver'] },
  reason: null,
  replacedBy: callIdOf(runIdOfCall(callId), ['edit', `appr-${callId}`]),
  arguments: args,
  argumentsDigest: DIGEST,
});
