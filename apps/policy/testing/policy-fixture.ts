import { callIdOf, digestArguments, newId, type Clock } from '#kernel';
import {
  message,
  toolContractSchema,
  toolKey,
  type CallProposed,
  type Message,
  type MessageData,
  type Principal,
  type ToolContract,
  type ToolContractInput,
} from '#contracts';
import { contractDigest } from '#registry';
import { openService, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { policyDoor } from '../src/policy.module.ts';

/** A contract for tests: a low-risk, reversible write, unless told otherwise. */
export function contractOf(over: Partial<ToolContractInput> = {}): ToolContract {
  return toolContractSchema.parse({
    namespace: 'tickets',
    name: 'create',
    version: '1.0.0',
    layer: 'write',
    title: 'Create a ticket',
    description: 'Creates a ticket.',
    whenToUse: 'To create a ticket.',
    whenNotToUse: 'To read one.',
    input: { type: 'object' },
    output: { type: 'object' },
    sideEffects: 'reversible',
    noUndoReason: 'a test',
    execution: { kind: 'local' },
    ...over,
  });
}
export const readContract = contractOf({ name: 'read', layer: 'read', sideEffects: 'none' });
export const writeContract = contractOf();
export const askContract = contractOf({ name: 'ask', approval: { mode: 'always' } });

export const alice: Principal = { id: 'user:alice', kind: 'user', roles: ['agent'] };
export const bob: Principal = { id: 'user:bob', kind: 'user', roles: ['approver'] };

export interface ProposalOver {
  readonly contract?: ToolContract;
  readonly tenant?: string;
  readonly runId?: string;
  readonly data?: Partial<CallProposed>;
}

/** What the orchestrator would send for a direct call. */
export function callProposed({
  contract = writeContract,
  tenant = 'dev',
  runId = newId('run'),
  data = {},
}: ProposalOver = {}): Message<'CallProposed'> {
  const callId = callIdOf(runId, 1);
  const tool = toolKey(contract);
  const digest = contractDigest(contract);
  const args = data.arguments ?? { title: 'disk full' };
  return message(
    'CallProposed',
    { tenant, runId, callId, now: Date.now() },
    {
      driver: 'call',
      principal: alice,
      tool,
      contractDigest: digest,
      pool: contract.execution.pool,
      effectClass: contract.layer === 'read' ? 'read' : 'call',
      arguments: args,
      argumentsDigest: digestArguments(tool, digest, args),
      resources: [],
      operationKey: `${tenant}/user:alice/task`,
      origins: Object.fromEntries(Object.keys(args).map((name) => [`/${name}`, 'user'])),
      runDeadline: Date.now() + 600_000,
      ...data,
    },
  );
}

export function callReturned(
  of: Message,
  decisionNo: number,
  reason: MessageData<'GrantReturned'>['reason'] = 'GRANT_EXPIRED',
  tenant = of.tenant,
) {
  return message(
    'GrantReturned',
    { tenant, runId: of.runId!, callId: of.callId!, now: Date.now() },
    { decisionNo, reason },
  );
}

export interface DecideOver extends Partial<MessageData<'DecideApproval'>> {
  readonly tenant?: string;
}
export function decideApproval(
  asked: Message<'ApprovalRequested'>,
  { tenant = asked.tenant, ...over }: DecideOver = {},
): Message<'DecideApproval'> {
  return message(
    'DecideApproval',
    { tenant, runId: asked.runId!, callId: asked.callId!, now: Date.now() },
    {
      commandId: newId('cmd'),
      approvalId: asked.data.approvalId,
      digest: asked.data.digest,
      decision: 'approved',
      principal: bob,
      reason: null,
      ...over,
    },
  );
}

export interface OpenPolicyOptions {
  readonly contracts?: readonly ToolContract[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly clock?: Clock;
  /** Instead of a registry that holds `contracts`. */
  readonly registry?: (asked: { digest: string }) => unknown;
  readonly quarantined?: () => unknown;
}

export function openPolicy({
  contracts = [],
  registry,
  quarantined = () => [],
  ...options
}: OpenPolicyOptions = {}): Promise<ServiceHarness> {
  const published = new Map(
    [readContract, writeContract, askContract, ...contracts].map((contract) => [contractDigest(contract), contract]),
  );
  const contract = ({ digest }: { digest: string }): unknown =>
    published.has(digest) ? { digest, contract: published.get(digest) } : null;
  return openService(policyDoor, {
    ...options,
    reads: { 'gateway.contract': registry ?? contract, 'gateway.quarantined': quarantined },
  });
}

type Published = ReturnType<ServiceHarness['take']>;
/** The messages of a type, among what was published. */
export const ofType = <T extends Message['type']>(published: Published, type: T): Message<T>[] =>
  published.flatMap(({ message: one }) => (one.type === type ? [one as Message<T>] : []));
export const typesOf = (published: Published): string[] => published.map(({ message: one }) => one.type).sort();
