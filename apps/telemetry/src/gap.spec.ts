import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import type { OffsetGap } from '#bus';
import { verifyAudit } from '#audit';
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

const GAP: OffsetGap = { topic: 'call.settled.default', partition: 4, from: 17, to: 40 };
const tell = (service: ServiceHarness, gaps: readonly OffsetGap[]): Promise<void> =>
  service.parts.consumers[0]!.onGap!(gaps);

describe('facts that were deleted before telemetry read them', () => {
  let telemetry: ServiceHarness;
  beforeEach(async () => {
    telemetry = await openTelemetry();
  });
  afterEach(() => telemetry.close());

  it('are named in the ledger of each tenant, chained and signed, and by the verification as what they are (G11)', async () => {
    await reduceFacts(telemetry, [...factsOfRuns('acme', 1), ...factsOfRuns('globex', 1)]);
    await tell(telemetry, [GAP]);
    for (const tenant of ['acme', 'globex']) {
      const gap = JSON.parse((await storedTexts(telemetry, tenant)).at(-1)!) as { type: string; data: object };
      expect(gap.type).toBe('dev.countersign.audit.gap.v1');
      expect(gap.data).toEqual({
        schema_version: 1,
        tenant,
        run_id: null,
        call_id: null,
        trace_id: null,
        topic: 'call.settled.default',
        partition: 4,
        from_offset: 17,
        to_offset: 40,
      });
      const report = await verifyStore(telemetry, tenant);
      expect(report.faults).toEqual([
        {
          kind: 'gap',
          ledger: `${tenant}/0`,
          sequence: RECORDS_OF_RUN + 1,
          detail:
            'facts of call.settled.default, partition 4, offsets from 17 up to 39, were deleted before they were recorded',
        },
      ]);
      expect(report).toMatchObject({ verified: false, tenants: [{ signed: RECORDS_OF_RUN + 1, openRuns: 0 }] });
    }
  });

  it('are published, and found in the topic, too', async () => {
    await reduceFacts(telemetry, factsOfRuns('acme', 1));
    await tell(telemetry, [GAP]);
    await allPublished(telemetry, 'acme');
    const keys = await keysOf(telemetry);
    const topic = telemetry.published.map((out) => out.raw.value.toString());
    const report = await verifyAudit(topic, {
      order: 'topic',
      keys,
      checkpoints: await checkpointsOf(telemetry, 'acme'),
    });
    expect(report.faults.map(({ kind }) => kind)).toEqual(['gap']);
  });

  it('are named once, however often and by whichever replica they are found; another gap is another record', async () => {
    await reduceFacts(telemetry, factsOfRuns('acme', 1));
    const other = await openTelemetry({ url: telemetry.url });
    await Promise.all([tell(telemetry, [GAP]), tell(other, [GAP]), tell(other, [GAP])]);
    await tell(other, [GAP, { ...GAP, from: null }, { ...GAP, partition: 5 }]);
    await until(async () => (await storedTexts(telemetry, 'acme')).length === RECORDS_OF_RUN + 3);
    const { faults } = await verifyStore(telemetry, 'acme');
    expect(faults.map(({ kind }) => kind)).toEqual(['gap', 'gap', 'gap']);
    expect(faults.map(({ detail }) => detail)).toContain(
      'facts of call.settled.default, partition 4, offsets up to 39, were deleted before they were recorded; which of them were recorded is not known',
    );
    await other.close();
  });

  it('a call of which the terminal record was among them is named besides', async () => {
    const facts = factsOfRuns('acme', 1);
    const lost = facts.find((fact) => fact.message.type === 'CallSettled');
    await tell(telemetry, [GAP]); // nothing is recorded of anybody yet
    await reduceFacts(telemetry, facts.slice(0, 3));
    await tell(telemetry, [GAP]);
    await reduceFacts(
      telemetry,
      facts.slice(3).filter((fact) => fact !== lost),
    );
    const { faults } = await verifyStore(telemetry, 'acme');
    expect(faults.map(({ kind }) => kind).sort()).toEqual(['gap', 'incomplete']);
  });
});
