import { ledgerName } from '#contracts';
import fc from 'fast-check';
import { verifyAudit, type AuditFault, type AuditReport } from '#audit';
import { newId, partitionOf } from '#kernel';
import { runFacts } from '../../../libs/contracts/testing/run-facts.ts';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
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

const PARTITIONS = 4;
const RUNS = 6;
const SIZE = RUNS * RECORDS_OF_RUN;
const env = { COUNTERSIGN_KAFKA_PARTITIONS: String(PARTITIONS) };

describe('the ledgers of a tenant, one for each partition of the audit', () => {
  let telemetry: ServiceHarness;
  let keys: unknown[];
  beforeAll(async () => {
    telemetry = await openTelemetry({ env });
    keys = await keysOf(telemetry);
  });
  afterAll(() => telemetry.close());

  let tenants = 0;
  /** Six real runs over all ledgers, signed after the fourth and at the end. */
  const written = async (): Promise<string> => {
    const tenant = `acme-${++tenants}`;
    await reduceFacts(telemetry, factsOfRuns(tenant, 4));
    await checkpointsOf(telemetry, tenant);
    await reduceFacts(telemetry, factsOfRuns(tenant, RUNS - 4, 5));
    await checkpointsOf(telemetry, tenant);
    return tenant;
  };
  const change = (text: string, ...values: unknown[]): Promise<number> => telemetry.database.change({ text, values });
  const faults = (report: AuditReport): [string, string, number][] =>
    report.faults.map(({ kind, ledger, sequence }: AuditFault) => [kind, ledger, sequence]);
  const sizeOf = async (tenant: string, part: number): Promise<number> =>
    (
      await telemetry.database.query<{ size: number }>({
        text: 'select last_seq as size from ledger where tenant = $1 and part = $2',
        values: [tenant, part],
      })
    )[0]!.size;

  it('a record lies in the ledger of its key, which is the partition of the topic; each ledger is dense and signed (G11)', async () => {
    const tenant = await written();
    const report = await verifyStore(telemetry, tenant);
    expect(report).toMatchObject({
      verified: true,
      records: SIZE,
      tenants: [{ tenant, records: SIZE, signed: SIZE, runs: RUNS, openRuns: 0, calls: RUNS * 3 }],
    });
    expect(report.ledgers.map(({ ledger }) => ledger)).toEqual(
      Array.from({ length: PARTITIONS }, (_, partition) => ledgerName({ tenant, partition })),
    );
    for (const { raw } of telemetry.published.filter(({ raw: { value } }) => value.includes(`"ledger":"${tenant}/`))) {
      const { ledger } = JSON.parse(raw.value.toString()) as { ledger: string };
      expect(ledger).toBe(`${tenant}/${partitionOf(raw.key, PARTITIONS)}`);
    }
  });

  it('verifies from the topic, partitions interleaved in any way, with the checkpoints in it', async () => {
    const tenant = await written();
    const texts = [...(await storedTexts(telemetry, tenant)), ...(await checkpointsOf(telemetry, tenant)).map(eventOf)];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(texts, { minLength: texts.length }), async (delivered) => {
        const report = await verifyAudit(delivered, { order: 'topic', keys });
        expect([report.faults, report.tenants[0]!.signed]).toEqual([[], SIZE]);
      }),
      { numRuns: 20 },
    );
  });

  it('pages hold every record once, whatever is recorded between two of them', async () => {
    const tenant = 'paged';
    await reduceFacts(telemetry, factsOfRuns(tenant, 3));
    const seen: string[] = [];
    let added = false;
    for (let after: string | null = ''; after !== null;) {
      const page: { items: { id: string }[]; next: string | null } = await telemetry.read('audit', {
        tenant,
        limit: 11,
        after,
      });
      seen.push(...page.items.map(({ id }) => id));
      if (!added) await reduceFacts(telemetry, factsOfRuns(tenant, 1, 4));
      added = true;
      after = page.next;
    }
    expect([seen.length, new Set(seen).size]).toEqual([4 * RECORDS_OF_RUN, 4 * RECORDS_OF_RUN]);
  });

  it('redelivered after the number of partitions changed, a fact is still recorded once, and the audit verifies', async () => {
    const tenant = 'grown';
    const facts = factsOfRuns(tenant, 3);
    await reduceFacts(telemetry, facts);
    const wider = await openTelemetry({ url: telemetry.url, env: { COUNTERSIGN_KAFKA_PARTITIONS: '7' } });
    await reduceFacts(wider, [...facts, ...factsOfRuns(tenant, 2, 4)]);
    await allPublished(wider, tenant);
    expect(await verifyStore(wider, tenant)).toMatchObject({
      faults: [],
      records: 5 * RECORDS_OF_RUN,
      tenants: [{ signed: 5 * RECORDS_OF_RUN, openRuns: 0 }],
    });
    await wider.close();
  });

  describe.each([0, 1, 2, 3])('of which ledger %i was tampered with', (part) => {
    const name = (tenant: string): string => `${tenant}/${part}`;

    it('deleted: one of its records', async () => {
      const tenant = await written();
      await change('delete from audit_record where tenant = $1 and part = $2 and seq = 2', tenant, part);
      expect(faults(await verifyStore(telemetry, tenant))).toContainEqual(['deleted', name(tenant), 2]);
    });

    it('edited: one of its records', async () => {
      const tenant = await written();
      const replace = `update audit_record set event = replace(event, '"time":"2026', '"time":"2025')
                        where tenant = $1 and part = $2 and seq = 2`;
      expect(await change(replace, tenant, part)).toBe(1);
      expect(faults(await verifyStore(telemetry, tenant))).toEqual([['edited', name(tenant), 2]]);
    });

    it('reordered: two of its records changed places', async () => {
      const tenant = await written();
      await change(
        `update audit_record a set event = b.event from audit_record b
          where a.tenant = $1 and a.part = $2 and a.seq in (2, 3) and b.tenant = $1 and b.part = $2 and b.seq = 5 - a.seq`,
        tenant,
        part,
      );
      expect(faults(await verifyStore(telemetry, tenant))).toEqual([['reordered', name(tenant), 2]]);
    });

    it('truncated: its newest record is gone', async () => {
      const tenant = await written();
      const size = await sizeOf(tenant, part);
      await change('delete from audit_record where tenant = $1 and part = $2 and seq = $3', tenant, part, size);
      expect(faults(await verifyStore(telemetry, tenant))).toContainEqual(['truncated', name(tenant), size]);
    });

    it('truncated: all of it is gone, the account of it too; nothing more is signed for the tenant', async () => {
      const tenant = await written();
      const signed = await checkpointsOf(telemetry, tenant);
      const size = await sizeOf(tenant, part);
      await change('delete from audit_record where tenant = $1 and part = $2', tenant, part);
      await change('delete from ledger where tenant = $1 and part = $2', tenant, part);
      // One record: where it lies is chance, but no ledger grows again to what was signed of it.
      expect(size).toBeGreaterThan(1);
      await reduceFacts(telemetry, factsOfRuns(tenant, 1, RUNS + 1).slice(0, 1));
      expect(await checkpointsOf(telemetry, tenant)).toEqual(signed);
      expect(faults(await verifyStore(telemetry, tenant)).map(([kind, ledger]) => [kind, ledger])).toContainEqual([
        'truncated',
        name(tenant),
      ]);
    });

    it('forked: another record of one of its sequences', async () => {
      const tenant = await written();
      const texts = await storedTexts(telemetry, tenant);
      const own = texts.find((text) => text.includes(`"ledger":"${name(tenant)}","sequence":"2"`))!;
      const report = await verifyAudit([...texts, own.replace('"time":"2026', '"time":"2025')], {
        keys,
        order: 'topic',
      });
      expect(faults(report)).toEqual([['forked', name(tenant), 2]]);
    });

    it('swapped: a record changed places with one of another ledger', async () => {
      const tenant = await written();
      const other = (part + 1) % PARTITIONS;
      await change(
        `update audit_record a set event = b.event from audit_record b
          where a.tenant = $1 and a.seq = 2 and a.part in ($2::int, $3::int)
            and b.tenant = $1 and b.seq = 2 and b.part = $2::int + $3::int - a.part`,
        tenant,
        part,
        other,
      );
      const found = faults(await verifyStore(telemetry, tenant));
      expect(found.map(([kind]) => kind)).toContain('reordered');
      expect(found.map(([, ledger]) => ledger)).toContain(`${tenant}/${Math.min(part, other)}`);
    });

    it('swapped: a record was moved to another ledger under its name and number', async () => {
      const tenant = await written();
      const other = (part + 1) % PARTITIONS;
      const texts = await storedTexts(telemetry, tenant);
      const at = texts.findIndex((text) => text.includes(`"ledger":"${name(tenant)}","sequence":"2"`));
      const there = texts.findIndex((text) => text.includes(`"ledger":"${tenant}/${other}","sequence":"2"`));
      const moved = texts[at]!.replace(`"ledger":"${name(tenant)}"`, `"ledger":"${tenant}/${other}"`);
      const found = faults(await verifyAudit(texts.with(there, moved), { keys, order: 'topic' }));
      expect(found).toContainEqual(['edited', `${tenant}/${other}`, 2]);
    });
  });

  it('a record in the ledger of another tenant is no record of it (G12)', async () => {
    const tenant = await written();
    const texts = await storedTexts(telemetry, tenant);
    const foreign = texts[0]!.replace(`"ledger":"${tenant}/`, '"ledger":"other/');
    const report = await verifyAudit([...texts.slice(1), foreign], { order: 'topic' });
    expect(report.faults).toContainEqual(
      expect.objectContaining({ kind: 'unreadable', detail: expect.stringContaining('ledger of another tenant') }),
    );
  });

  it('incomplete: the terminal record of a call is missing, in whatever ledger it should be', async () => {
    const { facts } = runFacts('short', newId('run'), 1);
    const victim = facts.find(({ message }) => message.type === 'CallSettled')!;
    await reduceFacts(
      telemetry,
      facts.filter((fact) => fact !== victim),
    );
    await allPublished(telemetry, 'short');
    expect(faults(await verifyStore(telemetry, 'short'))).toEqual([
      ['incomplete', expect.stringMatching(/^short\/\d$/), expect.any(Number)],
    ]);
  });
});

const eventOf = ({ jws, tenant }: { jws: string; tenant: string }): string =>
  JSON.stringify({ specversion: '1.0', type: 'dev.countersign.audit.checkpoint.v1', data: { tenant, jws } });
