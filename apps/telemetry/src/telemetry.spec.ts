import fc from 'fast-check';
import { message, type Message } from '#contracts';
import { digestText, newId } from '#kernel';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { runFacts, type FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import { digestOfEvent } from './domain/chain-events.ts';
import { telemetryDoor } from './telemetry.module.ts';

interface AuditEvent {
  id: string;
  type: string;
  subject: string;
  sequence: string;
  previousdigest?: string;
  data: Record<string, unknown>;
}
interface Page {
  items: AuditEvent[];
  next: string | null;
}

describe('telemetry', () => {
  let telemetry: ServiceHarness;
  beforeAll(async () => {
    telemetry = await openService(telemetryDoor, {
      env: { COUNTERSIGN_AUDIT_PACE_MS: '0', COUNTERSIGN_KAFKA_PARTITIONS: '1' },
    });
  });
  afterAll(() => telemetry.close());

  let tenantNo = 0;
  const freshTenant = (): string => `tenant-${++tenantNo}`;
  const reduce = async (service: ServiceHarness, facts: readonly FactAt[]): Promise<void> => {
    const consumer = service.parts.consumers[0]!;
    const batch = facts.filter(
      (fact) => consumer.topics.includes(fact.topic) && consumer.accepts.includes(fact.message.type),
    );
    if (batch.length > 0)
      await consumer.reduce(
        batch.map(({ topic, message: value }) => ({ message: value, delivery: { topic } })) as never,
      );
    await service.settle();
  };
  const audit = (tenant: string, more: object = {}): Promise<Page> =>
    telemetry.read('audit', { tenant, limit: 500, ...more });
  const types = (page: Page): string[] =>
    page.items.map((event) => event.type.replace(/^dev\.countersign\.|\.v1$/g, ''));

  it('records each fact of a run as a CloudEvent, in one dense chain, and publishes what it stored (G11)', async () => {
    const tenant = freshTenant();
    const { runId, callIds, facts } = runFacts(tenant);
    telemetry.take();
    await reduce(telemetry, facts);
    const page = await audit(tenant);
    expect(types(page)).toEqual([
      'run.started',
      'turn.recorded',
      'call.decided',
      'call.settled',
      'approval.requested',
      'call.decided',
      'grant.returned',
      'approval.requested',
      'approval.decided',
      'call.decided',
      'call.settled',
      'call.settled',
      'turn.recorded',
      'run.ended',
    ]);
    expect(page.items.map((event) => event.sequence)).toEqual(page.items.map((_, i) => String(i + 1)));
    const sent = telemetry.published.filter((out) => out.topic === 'audit.events' && out.raw.value.includes(tenant));
    expect(sent.map((out) => JSON.parse(out.raw.value.toString()))).toEqual(page.items);
    sent
      .slice(1)
      .forEach((out, i) =>
        expect(JSON.parse(out.raw.value.toString()).previousdigest).toBe(digestOfEvent(sent[i]!.raw.value.toString())),
      );
    expect(sent[3]!.raw).toMatchObject({
      key: callIds[0],
      headers: { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
    });
    expect(sent.every((out) => out.raw.partitionKey === undefined)).toBe(true);
    expect(sent[0]!.raw.key).toBe(runId);
    expect(page.items[10]).toMatchObject({
      specversion: '1.0',
      source: `/countersign/tenants/${tenant}`,
      subject: callIds[1],
      time: '2026-01-01T00:00:12.000Z',
      data: {
        run_id: runId,
        call_id: callIds[1],
        tool: 'ops.write@1.0.0',
        namespace: 'ops',
        status: 'succeeded',
        effect: 'applied',
        attempts: 1,
        error_code: null,
        decision: 'allow',
      },
    });
  });

  it('what a process recorded and did not publish before it died, the next one publishes: the same bytes, no gap (P1–P3)', async () => {
    const tenant = freshTenant();
    await reduce(telemetry, runFacts(tenant).facts);
    const recorded = (await audit(tenant)).items;
    const progress = () =>
      telemetry.database.query<{ published: number; last: number }>({
        text: 'select published_seq published, last_seq last from ledger where tenant = $1',
        values: [tenant],
      });
    await until(async () => (await progress())[0]!.published === recorded.length);
    await telemetry.database.change({
      text: 'update ledger set published_seq = 3 where tenant = $1',
      values: [tenant],
    });
    const next = await openService(telemetryDoor, {
      url: telemetry.url,
      env: { COUNTERSIGN_AUDIT_PACE_MS: '0', COUNTERSIGN_KAFKA_PARTITIONS: '1' },
    });
    await next.startWorkers();
    await until(async () => (await progress())[0]!.published === recorded.length);
    const sent = next.published.filter((out) => out.raw.value.includes(tenant));
    expect(sent.map((out) => JSON.parse(out.raw.value.toString()))).toEqual(recorded.slice(3));
    await next.close();
  });

  it('holds no arguments, no results, no texts of people', async () => {
    const tenant = freshTenant();
    await reduce(telemetry, runFacts(tenant).facts);
    expect(JSON.stringify(await audit(tenant))).not.toMatch(/never shown|for the model alone|alerts|fine/);
  });

  it('whatever is delivered again, in whatever order and batches, each fact is one record and each call has one terminal one (G11)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(1000)), async (stream) => {
        const tenant = freshTenant();
        const { facts, callIds } = runFacts(tenant);
        const pick = (below: number): number => (stream.next().value as number) % below;
        // A redelivery by a producer that made the message anew carries another envelope id.
        const again = facts
          .filter(() => pick(2) === 0)
          .map((fact) => ({ ...fact, message: { ...fact.message, id: newId('msg') } as Message }));
        const all = [...facts, ...again]
          .map((fact) => ({ fact, at: pick(1000) }))
          .sort((a, b) => a.at - b.at)
          .map(({ fact }) => fact);
        while (all.length > 0) await reduce(telemetry, all.splice(0, 1 + pick(8)));
        const { items } = await audit(tenant);
        expect(items.map((event) => event.sequence)).toEqual(Array.from({ length: 14 }, (_, i) => String(i + 1)));
        const terminal = items.filter((event) => event.type.includes('call.settled')).map((event) => event.subject);
        expect(terminal.sort()).toEqual([...callIds].sort());
        expect(new Set(items.map((event) => event.id)).size).toBe(14);
      }),
      { numRuns: 15 },
    );
  });

  it('two replicas that get the same facts at once record them once', async () => {
    const tenant = freshTenant();
    const other = await openService(telemetryDoor, {
      url: telemetry.url,
      env: { COUNTERSIGN_AUDIT_PACE_MS: '0', COUNTERSIGN_KAFKA_PARTITIONS: '1' },
    });
    const { facts } = runFacts(tenant);
    await Promise.all([telemetry, other].flatMap((service) => facts.map((fact) => reduce(service, [fact]))));
    const { items } = await audit(tenant);
    expect(items.map((event) => event.sequence)).toEqual(Array.from({ length: 14 }, (_, i) => String(i + 1)));
    await other.close();
  });

  it('a forged grant is audited, and is no settlement', async () => {
    const tenant = freshTenant();
    const { runId, callIds } = runFacts(tenant);
    const refused = message(
      'GrantRefused',
      { tenant, runId, callId: callIds[0]!, now: 0 },
      { code: 'GRANT_INVALID', message: 'not ours', grantDigest: digestText('g', 'x'), pool: 'default' },
    );
    await reduce(telemetry, [
      { topic: 'call.returned.default', message: refused },
      { topic: 'call.returned.default', message: { ...refused, id: newId('msg') } },
    ]);
    const { items } = await audit(tenant);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      type: 'dev.countersign.grant.refused.v1',
      subject: callIds[0],
      data: { error_code: 'GRANT_INVALID' },
    });
  });

  it('a settlement on a topic of another holder is not recorded', async () => {
    const tenant = freshTenant();
    const { facts } = runFacts(tenant);
    const settled = facts.find((fact) => fact.topic === 'call.settled.default')!;
    await reduce(telemetry, [{ ...settled, topic: 'call.rejected' }]);
    expect((await audit(tenant)).items).toEqual([]);
  });

  it('answers page by page, by run, and never another tenant (G12)', async () => {
    const tenant = freshTenant();
    const [one, two] = [runFacts(tenant), runFacts(tenant)];
    await reduce(telemetry, [...one.facts, ...two.facts]);
    const first = await audit(tenant, { limit: 20 });
    const second = await audit(tenant, { limit: 20, after: first.next! });
    expect([first.items.length, first.next, second.items.length, second.next]).toEqual([20, '0.20', 8, null]);
    expect((await audit(tenant, { runId: two.runId })).items).toHaveLength(14);
    expect(types(await audit(tenant, { callId: one.callIds[2] }))).toEqual(['call.settled']);
    expect((await audit(freshTenant(), { runId: two.runId })).items).toEqual([]);
    expect(await telemetry.read('auditCount', { tenant })).toEqual({ count: 28 });
    expect(await telemetry.read('auditCount', { tenant, runIds: [one.runId] })).toEqual({ count: 14 });
    expect(await telemetry.read('auditCount', { tenant: freshTenant(), runIds: [one.runId] })).toEqual({ count: 0 });
  });
});
