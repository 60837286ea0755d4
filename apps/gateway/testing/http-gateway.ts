import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { fileURLToPath } from 'node:url';
import { message, type CallSettled, type Message, type RunStarted } from '#contracts';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { createGatewayDoor } from '../src/gateway.module.ts';

/** The gateway behind its door, with its HTTP front, a recording bus and answers of other services that the test gives. */
export interface HttpGateway {
  readonly service: ServiceHarness;
  readonly app: NestFastifyApplication;
  request(method: string, url: string, options?: RequestOptions): Promise<HttpAnswer>;
  /** The nth command of the type that is published after the last `forget`. */
  published<T extends Message['type']>(type: T, nth?: number): Promise<Message<T>>;
  /** Begins a new test. */
  forget(): void;
  close(): Promise<void>;
}

export interface RequestOptions {
  readonly as?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; text and bytes as they are. */
  readonly body?: object | string | Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks into what it expects
  readonly body: any;
}

export interface GatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly reads?: Readonly<Record<string, (args: never) => unknown>>;
  readonly controllers?: readonly Type[];
  /** Another gateway's database, for two replicas. */
  readonly url?: string;
  /** Tools are reviewed by a second person, though the credentials are those of development. */
  readonly reviews?: boolean;
}

export const WORKSPACE = fileURLToPath(new URL('./workspace/', import.meta.url));
export const nothingKnown = {
  'state-store.run': () => null,
  'state-store.call': () => null,
  'orchestrator.run': () => null,
};

export async function openGateway(options: GatewayOptions = {}): Promise<HttpGateway> {
  const env = { COUNTERSIGN_DEV: '1', COUNTERSIGN_WORKSPACES: WORKSPACE, ...options.env };
  const { controllers: more = [], url, reviews } = options;
  const door = createGatewayDoor({ controllers: more, ...(reviews === undefined ? {} : { reviews }) });
  const reads = { ...nothingKnown, ...options.reads };
  const service = await openService(door, { env, reads, ...(url === undefined ? {} : { url }) });
  const { controllers, providers, http } = service.parts;
  class GatewayModule {}
  const module = { module: GatewayModule, controllers: [...controllers!], providers: [...providers!] };
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter({ ...http?.fastify }), {
    logger: false,
    bodyParser: false,
  });
  await http?.configure(app);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  let mark = 0;
  return {
    service,
    app,
    async request(method, url, { as = 'dev.dev.alice.agent', headers = {}, body } = {}) {
      const response = await app.inject({
        method: method as 'GET',
        url,
        headers: {
          host: 'localhost',
          ...(as === null ? {} : { authorization: `Bearer ${as}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: body }),
      });
      return {
        status: response.statusCode,
        headers: response.headers,
        body: response.payload === '' ? null : response.json(),
      };
    },
    published: async (type, nth = 0) =>
      (await until(
        () => service.published.slice(mark).filter((p) => p.message.type === type)[nth]?.message,
      )) as Message<typeof type>,
    forget() {
      mark = service.published.length;
    },
    async close() {
      await app.close();
      await service.close();
    },
  };
}

const now = Date.parse('2026-11-30T12:00:00Z');

/** The orchestrator's answer to a StartRun. */
export const startedBy = (start: Message<'StartRun'>, change: Partial<RunStarted> = {}): Message<'RunStarted'> =>
  message(
    'RunStarted',
    { tenant: start.tenant, runId: start.runId!, now },
    {
      driver: start.data.driver,
      principal: start.data.principal,
      requestDigest: start.data.requestDigest,
      callIds: start.data.proposals.map((proposal) => proposal.callId!),
      labels: {},
      ...change,
    },
  );

export const settled = (
  call: { tenant: string; runId: string; callId: string },
  change: Partial<CallSettled> = {},
): Message<'CallSettled'> => message('CallSettled', { ...call, now }, { ...succeeded, ...change });

const digest = `sha256:${'0'.repeat(64)}`;
export const views: NonNullable<CallSettled['result']> = {
  rawDigest: digest,
  sanitizedDigest: digest,
  modelDigest: digest,
  sanitized: { id: 'T-1' },
  model: '<data>{"id":"T-1"}</data>',
  truncated: null,
  redactions: 0,
  evidence: { resourceIds: ['ticket:T-1'], sources: [] },
  fault: null,
};
const succeeded: CallSettled = {
  settledBy: 'executor',
  status: 'succeeded',
  tool: 'desk.create_ticket@1.0.0',
  contractDigest: digest,
  argumentsDigest: digest,
  decisionNo: 1,
  approvalId: null,
  policyDigest: digest,
  operationKeyHash: null,
  effect: 'applied',
  replayed: false,
  attempts: 1,
  durationMs: 12,
  error: null,
  result: views,
};
