import type { AuditFault, AuditReport } from '#audit';
import type { Message } from '#contracts';

/** The whole installation under test, seen from outside plus the bus for test wiring. */
export interface System {
  readonly gateway: string;
  readonly databaseUrl: string;
  /** The sink behind the probe tools. */
  readonly sinkUrl: string;
  /** Base URL of the incident service of the example, in a process of its own. */
  readonly incidentsUrl: string;
  /** Messages seen on the bus since the start, oldest first. */
  readonly seen: readonly { readonly topic: string; readonly message: Message }[];
  publish(topic: string, message: Message): Promise<void>;
  close(): Promise<void>;
}

const ROLES: Record<string, string> = {
  alice: 'agent',
  bob: 'approver',
  mallory: 'agent+approver',
  carol: 'agent',
  paula: 'agent+payroll',
  peter: 'agent+publisher',
  ann: 'auditor',
  pat: 'tool-publisher',
  olga: 'operator',
  otto: 'agent+operator',
};

/** One request as one of the test's people; `tenant/person` for another tenant. */
export async function ask<T = Record<string, unknown>>(
  system: Pick<System, 'gateway'>,
  person: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; contentType: string; headers: Headers; body: T }> {
  const [tenant, name] = person.includes('/') ? (person.split('/') as [string, string]) : ['dev', person];
  const response = await fetch(new URL(path, system.gateway), {
    method,
    headers: {
      authorization: `Bearer dev.${tenant}.${name}.${ROLES[name] ?? 'agent'}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    headers: response.headers,
    body: (text ? JSON.parse(text) : {}) as T,
  };
}

/**
 * What is wrong with the ledgers themselves: chain, order, signatures. The installations of a test run share one Kafka, and
 * records of one that was killed come to the next, which has other run numbers: whether runs are complete is asked elsewhere.
 */
export const ownFaults = ({ faults }: AuditReport): AuditFault[] =>
  faults.filter(({ kind, detail }) => kind !== 'incomplete' && !detail.startsWith('two runs have the number'));
