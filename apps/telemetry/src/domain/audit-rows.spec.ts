import { Ajv2020 } from 'ajv/dist/2020.js';
import { CATALOGUE, type CatalogueRow, type MessageType } from '#contracts';
import { runFacts } from '../../../../libs/contracts/testing/run-facts.ts';
import { telemetryConsumers } from '../telemetry.handlers.ts';
import { readFields, WITHHELD, type AuditField } from './audit-field.ts';
import { auditEntries, type AuditedFact, type AuditEntry } from './audit-entries.ts';
import { AUDIT_ROWS, AUDITED_TYPES } from './audit-rows.ts';
import { auditSchemas } from './audit-schemas.ts';
import { chainEvents, prepareEntry, type AuditRecord } from './chain-events.ts';

const rows: readonly [string, CatalogueRow][] = Object.entries(CATALOGUE);
const audited = rows.filter(([, row]) => row.kind === 'fact' && row.consumers.includes('telemetry'));

describe('what is audited', () => {
  it('is each fact that names telemetry as a reader, and no other (G11)', () => {
    expect([...AUDITED_TYPES].sort()).toEqual(audited.map(([type]) => type).sort());
  });

  it('is read from every topic that carries it', () => {
    const [recorder] = telemetryConsumers({ pools: ['default'], paceMs: 0 } as never);
    for (const [type, { topic }] of audited)
      for (const each of topic.split(' | ').map((name) => name.replace('<pool>', 'default')))
        expect([type, each, recorder!.topics.includes(each)]).toEqual([type, each, true]);
  });

  it('has a name of its own for each fact', () => {
    const names = Object.values(AUDIT_ROWS).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

const chained = (entries: readonly AuditEntry[]): readonly AuditRecord[] =>
  chainEvents(
    { tenant: 'dev', partition: 0, lastSeq: 0, lastDigest: '' },
    entries.map((entry) => prepareEntry(entry, 1)),
  ).records;

describe('the published schemas of the records', () => {
  const ajv = new Ajv2020({ strict: false });
  const validators = new Map(Object.entries(auditSchemas()).map(([type, schema]) => [type, ajv.compile(schema)]));

  it('describe the records as telemetry makes them', () => {
    const facts = runFacts().facts.filter(({ message }) => AUDITED_TYPES.includes(message.type as never));
    const { entries } = auditEntries(facts as readonly AuditedFact[]);
    for (const { event } of chained(entries)) {
      const { type, data } = JSON.parse(event) as { type: string; data: object };
      const validate = validators.get(type)!;
      expect([type, validate(data), validate.errors]).toEqual([type, true, null]);
    }
  });

  it.each(AUDITED_TYPES)('of %s let in what is withheld, and no sentence', (type: MessageType) => {
    const row = AUDIT_ROWS[type as keyof typeof AUDIT_ROWS];
    const fields = Object.entries<AuditField<never>>(row.fields);
    const validate = validators.get(`dev.countersign.${row.name}.v1`)!;
    const base = { schema_version: 1, tenant: 'dev', run_id: null, call_id: null, trace_id: null };
    const canary = 'the key is sk-live-CANARY0123456789';
    const poisoned = (field: AuditField<never>): AuditField<unknown> => ({
      ...field,
      of: () => (field.form.schema.items ? [canary] : canary),
    });
    const read = readFields(Object.fromEntries(fields.map(([name, field]) => [name, poisoned(field)])), {});
    expect(JSON.stringify(read)).not.toContain('CANARY');
    for (const [name, { form }] of fields) {
      const one = (value: unknown): boolean =>
        validate({ ...base, ...Object.fromEntries(fields.map(([other]) => [other, null])), [name]: value });
      expect([name, one(null)]).toEqual([name, true]);
      expect([name, one(form.schema.items ? [canary] : canary)]).toEqual([name, false]);
      if (form.pattern) expect([name, one(read[name])]).toEqual([name, true]);
      else expect(read[name]).toBe(WITHHELD);
    }
  });
});
