import fc from 'fast-check';
import { verifyAudit, type AuditFault } from '#audit';
import { budgetsSchema, message, TOPICS, type Message } from '#contracts';
import { newId } from '#kernel';
import { runFacts, type FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import {
  allPublished,
  checkpointsOf,
  factsOfRuns,
  keysOf,
  openTelemetry,
  RECORDS_OF_RUN,
  reduceFacts,
  storedTexts,
  verifyStore,
} from '../testing/ledger-fixture.ts';

describe('a ledger from which something was left out before it was chained', () => {
  let telemetry: ServiceHarness;
  beforeAll(async () => {
    telemetry = await openTelemetry();
  });
  afterAll(() => telemetry.close());

  let tenants = 0;
  const faultsOf = async (facts: (tenant: string) => readonly FactAt[]): Promise<readonly AuditFault[]> => {
    const tenant = `acme-${++tenants}`;
    await reduceFacts(telemetry, facts(tenant));
    await allPublished(telemetry, tenant);
    return (await verifyStore(telemetry, tenant)).faults;
  };
  const without = (facts: readonly FactAt[], type: Message['type'], nth = 0): FactAt[] => {
    const victim = facts.filter((fact) => fact.message.type === type)[nth];
    return facts.filter((fact) => fact !== victim);
  };

  it.each([0, 1, 2])('incomplete: the terminal record of call %i of a run is missing (G11)', async (nth) => {
    expect(await faultsOf((tenant) => without(factsOfRuns(tenant, 1), 'CallSettled', nth))).toEqual([
      expect.objectContaining({ kind: 'incomplete', sequence: RECORDS_OF_RUN - 1 }),
    ]);
  });

  it('incomplete: a terminal record of a call that the run does not know', async () => {
    const faults = await faultsOf((tenant) => {
      const { facts, callIds } = runFacts(tenant, newId('run'), 1);
      const stranger = facts.find((fact) => fact.message.callId === callIds[2] && fact.message.type === 'CallSettled')!;
      const callId = `${callIds[2]!.slice(0, -1)}9`;
      return [...facts, { ...stranger, message: { ...stranger.message, callId, id: newId('msg') } as Message }];
    });
    expect(faults).toEqual([expect.objectContaining({ kind: 'incomplete', sequence: RECORDS_OF_RUN })]);
  });

  it('incomplete: the terminal record of another call stands for the one that is missing', async () => {
    const faults = await faultsOf((tenant) => {
      const { facts, callIds } = runFacts(tenant, newId('run'), 1);
      const last = facts.findLast((fact) => fact.message.type === 'CallSettled')!;
      const callId = `${callIds[2]!.slice(0, -1)}9`;
      return facts.map((fact) => (fact === last ? { ...fact, message: { ...fact.message, callId } as Message } : fact));
    });
    expect(faults).toEqual([expect.objectContaining({ kind: 'incomplete', sequence: RECORDS_OF_RUN })]);
  });

  it('incomplete: a whole run is missing; the numbers of runs tell', async () => {
    expect(await faultsOf((tenant) => [...factsOfRuns(tenant, 1), ...factsOfRuns(tenant, 1, 3)])).toEqual([
      expect.objectContaining({
        kind: 'incomplete',
        detail: expect.stringMatching(/^the start of run number 2 is missing, between the runs run_\w+ and run_\w+$/),
      }),
    ]);
  });

  it('incomplete: the start of a run is missing', async () => {
    expect(await faultsOf((tenant) => without(factsOfRuns(tenant, 1), 'RunStarted'))).toEqual([
      expect.objectContaining({ kind: 'incomplete', sequence: RECORDS_OF_RUN - 1 }),
    ]);
  });

  it('duplicate: two runs with one number', async () => {
    expect(await faultsOf((tenant) => [...factsOfRuns(tenant, 1), ...factsOfRuns(tenant, 1)])).toEqual([
      expect.objectContaining({ kind: 'duplicate', detail: 'two runs have the number 1' }),
    ]);
  });

  it('a run that has not ended is open, no fault, unless it is asked for', async () => {
    const { runId, facts } = runFacts('open', newId('run'), 1);
    await reduceFacts(telemetry, without(facts, 'RunEnded'));
    const report = await verifyStore(telemetry, 'open');
    expect(report).toMatchObject({ verified: true, tenants: [{ runs: 1, openRuns: 1 }] });
    const asked = await verifyStore(telemetry, 'open', { runIds: [runId] });
    expect(asked.faults).toEqual([expect.objectContaining({ kind: 'incomplete', ledger: 'open' })]);
  });

  it('verification of a running system waits for what is on its way', async () => {
    const { runId, facts } = runFacts('late', newId('run'), 1);
    const last = facts.findLast((fact) => fact.message.type === 'CallSettled')!;
    await reduceFacts(
      telemetry,
      facts.filter((fact) => fact !== last),
    );
    let pages = 0;
    const report = await verifyStore(telemetry, 'late', {
      runIds: [runId],
      settleMs: 60_000,
      onProgress: () => {
        if (++pages === 2) void reduceFacts(telemetry, [last]);
      },
    });
    expect(report).toMatchObject({ verified: true, records: RECORDS_OF_RUN });
  });

  it('of a resumed run the last end counts', async () => {
    const tenant = 'resumed';
    const { facts, runId } = runFacts(tenant, newId('run'), 1);
    const ended = facts.at(-1)!.message as Message<'RunEnded'>;
    const stopped = message(
      'RunEnded',
      { tenant, runId, now: 0 },
      { ...ended.data, status: 'stopped', episode: 1, callCount: 0, callsDigest: `sha256:${'0'.repeat(64)}` },
    );
    const again = message('RunEnded', { tenant, runId, now: 1 }, { ...ended.data, episode: 2 });
    const topic = facts.at(-1)!.topic;
    const others = facts.slice(0, -1);
    await reduceFacts(telemetry, [{ topic, message: again }, ...others, { topic, message: stopped }]);
    expect((await verifyStore(telemetry, tenant)).faults).toEqual([]);
  });

  it('a resumed run is open until it ends again', async () => {
    const tenant = 'resuming';
    const { facts, runId } = runFacts(tenant, newId('run'), 1);
    const resumed = message(
      'RunResumed',
      { tenant, runId, now: 0 },
      { commandId: newId('cmd'), episode: 2, budgets: budgetsSchema.parse({}) },
    );
    await reduceFacts(telemetry, [...facts, { topic: TOPICS.runEvents, message: resumed }]);
    const report = await verifyStore(telemetry, tenant);
    expect(report).toMatchObject({ verified: true, records: RECORDS_OF_RUN + 1, tenants: [{ openRuns: 1 }] });
    const asked = await verifyStore(telemetry, tenant, { runIds: [runId] });
    expect(asked.faults).toEqual([expect.objectContaining({ kind: 'incomplete', ledger: tenant })]);
  });
});

describe('two telemetry services on one database', () => {
  it('whatever is repeated, reordered, or dies between commit and publish: dense, complete, signed, once (G11)', async () => {
    const one = await openTelemetry();
    const keys = await keysOf(one);
    let tenants = 0;
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(1_000_000)), async (stream) => {
        const pick = (below: number): number => (stream.next().value as number) % below;
        const tenant = `acme-${++tenants}`;
        const facts = factsOfRuns(tenant, 4);
        const again = facts
          .filter(() => pick(3) === 0)
          .map((fact) => ({ ...fact, message: { ...fact.message, id: newId('msg') } as Message }));
        const all = [...facts, ...again].map((fact) => ({ fact, at: pick(1000) })).sort((a, b) => a.at - b.at);
        const rest = all.map(({ fact }) => fact);
        const dying = await openTelemetry({ url: one.url });
        const living = await openTelemetry({ url: one.url });
        const deathAt = pick(rest.length);
        while (rest.length > 0) {
          const [mine, theirs] = [rest.splice(0, 1 + pick(12)), rest.splice(0, 1 + pick(12))];
          if (rest.length < deathAt) {
            // It commits, publishes nothing, acknowledges nothing: its batch is delivered again, to the other.
            dying.published.push = () => {
              throw new Error('killed');
            };
          }
          await Promise.all([reduceFacts(dying, mine), reduceFacts(living, theirs)]);
          if (rest.length < deathAt) await reduceFacts(living, mine);
        }
        await living.startWorkers();
        await allPublished(living, tenant);
        const checkpoints = await checkpointsOf(living, tenant);
        const texts = await storedTexts(living, tenant);
        const store = await verifyAudit(texts, { keys, checkpoints });
        expect([store.faults, store.records]).toEqual([[], 4 * RECORDS_OF_RUN]);
        const delivered = [...dying.published, ...living.published].map((out) => out.raw.value.toString());
        const topic = await verifyAudit(delivered, { order: 'topic', keys });
        expect([topic.faults, topic.records]).toEqual([[], 4 * RECORDS_OF_RUN]);
        expect(topic.tenants[0]).toMatchObject({ signed: 4 * RECORDS_OF_RUN, openRuns: 0, runs: 4 });
        await Promise.all([dying.close(), living.close()]);
      }),
      { numRuns: 5 },
    );
    await one.close();
  });

  it('signs at its pace, while it works and when it is drained', async () => {
    const telemetry = await openTelemetry({
      env: { COUNTERSIGN_AUDIT_CHECKPOINT_RECORDS: '1', COUNTERSIGN_AUDIT_CHECKPOINT_MS: '3600000' },
    });
    await telemetry.startWorkers();
    await reduceFacts(telemetry, factsOfRuns('busy', 1));
    const signed = (service: ServiceHarness) =>
      service.database.query<{ size: number }>({ text: 'select max(size) as size from checkpoint' });
    await until(async () => (await signed(telemetry))[0]!.size === RECORDS_OF_RUN);
    const slow = await openTelemetry({ url: telemetry.url, env: { COUNTERSIGN_AUDIT_CHECKPOINT_MS: '3600000' } });
    await slow.startWorkers();
    await reduceFacts(slow, factsOfRuns('busy', 1, 2));
    await allPublished(slow, 'busy');
    for (const worker of slow.parts.workers!) await worker.drain();
    expect((await signed(telemetry))[0]!.size).toBe(2 * RECORDS_OF_RUN);
    await slow.close();
    await telemetry.close();
  });
});
