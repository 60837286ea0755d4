import { verifyTenant, type AuditReport, type Checkpoint, type FetchJson, type VerifyPagesOptions } from '#audit';
import { newId } from '#kernel';
import type { Log } from '#runtime';
import { runFacts, type FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { telemetryDoor } from '../src/telemetry.module.ts';

/** What a run of `runFacts` leaves in its ledger. */
export const RECORDS_OF_RUN = 14;

/** With one ledger a tenant, `<tenant>/0`, unless `env` says otherwise. */
export const openTelemetry = (
  more: { url?: string; env?: Record<string, string>; log?: Log } = {},
): Promise<ServiceHarness> =>
  openService(telemetryDoor, {
    ...(more.url === undefined ? {} : { url: more.url }),
    ...(more.log === undefined ? {} : { log: more.log }),
    env: { COUNTERSIGN_AUDIT_PACE_MS: '0', COUNTERSIGN_KAFKA_PARTITIONS: '1', ...more.env },
  });

/** Hands facts to telemetry as one batch, of several topics, as its group does. */
export async function reduceFacts(service: ServiceHarness, facts: readonly FactAt[]): Promise<void> {
  const consumer = service.parts.consumers[0]!;
  const batch = facts.filter(
    (fact) => consumer.topics.includes(fact.topic) && consumer.accepts.includes(fact.message.type),
  );
  if (batch.length === 0) return;
  await consumer.reduce(batch.map(({ topic, message: value }) => ({ message: value, delivery: { topic } })) as never);
}

/** Facts of numbered runs, one run after the other. */
export const factsOfRuns = (tenant: string, runs: number, first = 1): FactAt[] =>
  Array.from({ length: runs }, (_, i) => runFacts(tenant, newId('run'), first + i).facts).flat();

/** The records of a tenant as they are stored, in the order of their ledgers. */
export const storedTexts = async (service: ServiceHarness, tenant: string): Promise<string[]> => {
  const rows = await service.database.query<{ event: string }>({
    text: 'select event from audit_record where tenant = $1 order by part, seq',
    values: [tenant],
  });
  return rows.map((row) => row.event);
};

/** Waits until the bus has acknowledged everything that is recorded. */
export const allPublished = (service: ServiceHarness, tenant: string): Promise<unknown> =>
  until(async () => {
    const rows = await service.database.query<{ done: boolean }>({
      text: 'select bool_and(published_seq = last_seq) as done from ledger where tenant = $1',
      values: [tenant],
    });
    return rows[0]?.done;
  });

/** Signs the head as it stands; all checkpoints of the tenant. */
export const checkpointsOf = async (service: ServiceHarness, tenant: string): Promise<Checkpoint[]> => {
  await allPublished(service, tenant);
  return (await service.read<{ items: Checkpoint[] }>('checkpoints', { tenant, limit: 500 })).items;
};

export const keysOf = async (service: ServiceHarness): Promise<unknown[]> =>
  (await service.read<{ keys: unknown[] }>('keys', {})).keys;

/** The API's audit routes, answered by telemetry itself. */
export const fetchFrom =
  (service: ServiceHarness, tenant: string): FetchJson =>
  (path) => {
    const { pathname, searchParams } = new URL(path, 'http://telemetry');
    const question = pathname === '/v1/audit' ? 'audit' : pathname.slice('/v1/audit/'.length);
    const { limit, ...more } = Object.fromEntries(searchParams);
    return service.read(question, { ...more, tenant, ...(limit === undefined ? {} : { limit: Number(limit) }) });
  };

export const verifyStore = (
  service: ServiceHarness,
  tenant: string,
  options: VerifyPagesOptions = {},
): Promise<AuditReport> => verifyTenant(fetchFrom(service, tenant), { settleMs: 0, ...options });
