import { randomUUID } from 'node:crypto';
import {
  grantedTopic,
  message,
  toolContractSchema,
  toolKey,
  type CallSettled,
  type Message,
  type ResultViews,
  type ToolContract,
  type ToolContractInput,
} from '#contracts';
import {
  generateSigningKey,
  grantId,
  importSigningKey,
  KeyRing,
  mintGrant,
  verifyGrant,
  type GrantClaims,
} from '#grants';
import { callIdOf, digestArguments, digestText, newId, runIdOfCall, type Clock, type Json } from '#kernel';
import type { LockPort } from '#locks';
import { contractDigest, nothingQuarantined } from '#registry';
import { defineDoor, type Log } from '#runtime';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import type { ProbeOutcome, ProbeRequest, RunOutcome, RunRequest } from '../src/domain/tool-runner.port.ts';
import { executorSettings } from '../src/executor.config.ts';
import { wireExecutor } from '../src/executor.wiring.ts';

export const POOL = 'default';
const key = importSigningKey(generateSigningKey());
export const publicKey = key.publicJwk;
export const foreignKey = importSigningKey(generateSigningKey());

const contracts = new Map<string, ToolContract>();

export function tool(over: Partial<ToolContractInput> = {}): { contract: ToolContract; digest: string } {
  const contract = toolContractSchema.parse({
    namespace: 'desk',
    name: 'create_ticket',
    version: '1.0.0',
    layer: 'write',
    title: 'Create a ticket',
    description: 'Creates a ticket.',
    whenToUse: 'To open a ticket.',
    whenNotToUse: 'To read one.',
    input: { type: 'object' },
    output: { type: 'object' },
    sideEffects: 'reversible',
    timeoutMs: 100,
    idempotency: { mode: 'key', template: '{task}:{tool}', place: { header: 'Idempotency-Key' } },
    execution: { kind: 'local' },
    ...over,
  });
  const digest = contractDigest(contract);
  contracts.set(digest, contract);
  return { contract, digest };
}

export interface GrantOptions {
  readonly of?: { contract: ToolContract; digest: string };
  readonly args?: Record<string, Json>;
  readonly callId?: string;
  readonly operationKey?: string;
  readonly resources?: string[];
  readonly decisionNo?: number;
  readonly claims?: Partial<GrantClaims>;
  readonly data?: Partial<Message<'CallGranted'>['data']>;
  readonly signWith?: typeof key;
}

let calls = 0;
export const newCallId = (): string => callIdOf(newId('run'), ++calls % 9000);

export function grant(options: GrantOptions = {}): Message<'CallGranted'> {
  const { contract, digest } = options.of ?? tool();
  const callId = options.callId ?? newCallId();
  const args = options.args ?? { summary: 'down' };
  const decisionNo = options.decisionNo ?? 1;
  const read = contract.layer === 'read';
  const operationKey =
    options.operationKey ?? (contract.idempotency.mode === 'key' ? `dev/user:alice/${randomUUID()}` : callId);
  const argumentsDigest = digestArguments(toolKey(contract), digest, args);
  const now = Math.floor(Date.now() / 1000);
  const claims: GrantClaims = {
    jti: grantId(callId, decisionNo),
    tenant: 'dev',
    runId: runIdOfCall(callId),
    callId,
    principal: 'user:alice',
    tool: toolKey(contract),
    contractDigest: digest,
    argsDigest: argumentsDigest,
    resources: options.resources ?? [],
    effectClass: read ? 'read' : 'call',
    operationKey,
    policyDigest: digestText('policy/v1', 'p'),
    decisionId: newId('dec'),
    decisionNo,
    aud: POOL,
    journalEpoch: 1,
    iat: now,
    exp: now + 50,
    ...options.claims,
  };
  return message(
    'CallGranted',
    { tenant: 'dev', runId: runIdOfCall(callId), callId, now: Date.now() },
    {
      driver: 'call',
      principal: { id: 'user:alice', kind: 'user', roles: ['agent'] },
      tool: toolKey(contract),
      contractDigest: digest,
      pool: POOL,
      effectClass: read ? 'read' : 'call',
      arguments: args,
      argumentsDigest,
      resources: options.resources ?? [],
      operationKey,
      decisionNo,
      grant: mintGrant(claims, options.signWith ?? key),
      ...options.data,
    },
  );
}

export const answered = (value: unknown): RunOutcome => ({
  kind: 'answered',
  value,
  raw: Buffer.from(JSON.stringify(value)),
});
export const failed = (
  sent: 'not_sent' | 'maybe_sent' | 'answered',
  noEffect: boolean,
  retryable = false,
): RunOutcome => ({
  kind: 'failed',
  sent,
  noEffect,
  error: { code: sent === 'not_sent' ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_ERROR', message: 'failed', retryable },
});

export const fakeViews = (_contract: ToolContract, value: unknown, raw: Buffer): ResultViews => ({
  rawDigest: digestText('raw/v1', raw),
  sanitizedDigest: 'sha256:s',
  modelDigest: 'sha256:m',
  sanitized: value,
  model: JSON.stringify(value),
  truncated: null,
  redactions: 0,
  evidence: { resourceIds: [], sources: [] },
  fault: null,
});

export interface Executor extends ServiceHarness {
  /** Attempts of all tools, in order. */
  readonly attempts: RunRequest[];
  /** Looks at what became of writes, in order. */
  readonly probes: ProbeRequest[];
  deliverGrants(...granted: Message<'CallGranted'>[]): Promise<void>;
  /** CancelGranted for these calls, and grants that come in the same batch. */
  cancel(callIds: readonly string[], own?: CancelOptions): Promise<void>;
  settlement(callId: string): Promise<CallSettled>;
  settlements(callId: string): CallSettled[];
  messagesOf(type: string): Message[];
}

export interface CancelOptions {
  readonly tenant?: string;
  readonly begun?: 'stop' | 'finish';
  readonly beside?: readonly Message<'CallGranted'>[];
}

export const cancelOf = (callId: string, { tenant = 'dev', begun = 'stop' }: CancelOptions = {}): Message =>
  message(
    'CancelGranted',
    { tenant, runId: runIdOfCall(callId), callId, now: Date.now() },
    { principal: 'user:alice', begun },
  );

export interface RigOptions {
  readonly url?: string;
  readonly env?: Record<string, string>;
  readonly locks?: LockPort;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly run?: (request: RunRequest) => Promise<RunOutcome> | RunOutcome;
  readonly probe?: (request: ProbeRequest) => Promise<ProbeOutcome> | ProbeOutcome;
  /** Off: a process that stopped, without lease renewal and sweeps. */
  readonly workers?: boolean;
  readonly contractsAway?: boolean;
}

/** One executor, as a process of its own would be, with tools, keys and contracts that the test holds. */
export async function openExecutor(options: RigOptions = {}): Promise<Executor> {
  const attempts: RunRequest[] = [];
  const probes: ProbeRequest[] = [];
  const ring = new KeyRing();
  ring.add(key.publicJwk);
  const door = defineDoor({
    name: 'executor',
    settings: executorSettings,
    migrations: new URL('../src/migrations/', import.meta.url),
    open: (context) =>
      wireExecutor(context, {
        verify: async (token) => (await verifyGrant(token, ring)).claims,
        contracts: { byDigest: (digest) => Promise.resolve(contracts.get(digest)!) },
        quarantine: nothingQuarantined,
        views: fakeViews,
        runner: {
          run: async (request) => {
            attempts.push(request);
            try {
              request.onSending();
            } catch {
              return failed('not_sent', true);
            }
            return options.run ? options.run(request) : answered({ id: `T-${request.callId}` });
          },
          probe: async (request) => {
            probes.push(request);
            return options.probe ? options.probe(request) : { kind: 'cannot_tell', evidence: 'no probe' };
          },
        },
      }),
  });
  const env = {
    COUNTERSIGN_LEASE_MS: '500',
    COUNTERSIGN_LEASE_MARGIN_MS: '50',
    COUNTERSIGN_SWEEP_MS: '50',
    COUNTERSIGN_EXECUTOR_DRAIN_MS: '200',
    COUNTERSIGN_CANCEL_GRACE_MS: '100',
    ...options.env,
  };
  const harness = await openService(door, {
    env,
    ...(options.url ? { url: options.url } : {}),
    ...(options.locks ? { locks: options.locks } : {}),
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.log ? { log: options.log } : {}),
  });
  if (options.workers !== false) await harness.startWorkers();
  const messagesOf = (type: string): Message[] =>
    harness.published.map((p) => p.message).filter((m) => m.type === type);
  const settlements = (callId: string): CallSettled[] =>
    (messagesOf('CallSettled') as Message<'CallSettled'>[]).filter((m) => m.callId === callId).map((m) => m.data);
  return {
    ...harness,
    attempts,
    probes,
    messagesOf,
    settlements,
    cancel: (callIds, own = {}) =>
      harness.deliver(grantedTopic(POOL), ...(own.beside ?? []), ...callIds.map((callId) => cancelOf(callId, own))),
    deliverGrants: (...granted) => harness.deliver(grantedTopic(POOL), ...granted),
    settlement: (callId) => until(() => settlements(callId)[0]),
  };
}

export { until };
