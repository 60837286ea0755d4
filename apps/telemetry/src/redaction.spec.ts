import { message, type Message } from '#contracts';
import { digestText, newId } from '#kernel';
import type { Log, LogFields } from '#runtime';
import { runFacts, type FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import { allPublished, openTelemetry, reduceFacts, storedTexts } from '../testing/ledger-fixture.ts';
import * as form from './domain/audit-field.ts';

const { WITHHELD } = form;

const CANARY = 'sk-live-CANARY0123456789abcdef is the key';
/** Fields whose text someone outside wrote: a person, a model, a tool, a client. */
const FREE_TEXT = new Set([
  'message',
  'reason',
  'answer',
  'model',
  'sanitized',
  'arguments',
  'labels',
  'origins',
  'resources',
  'resourceIds',
  'reasons',
  'providerCallId',
  'taskId',
  'agentName',
  'operationKeyHash',
  'correlationId',
]);

/** The same value with a canary as every such text, and inside whatever holds such texts. */
function poisoned(value: unknown, name = ''): unknown {
  if (FREE_TEXT.has(name)) {
    if (Array.isArray(value)) return [CANARY];
    if (typeof value === 'object' && value !== null) return { [CANARY]: CANARY };
    return name === 'model' || typeof value === 'string' ? CANARY : value;
  }
  if (Array.isArray(value)) return value.map((item) => poisoned(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poisoned(item, key)]));
}

const poison = ({ topic, message: value }: FactAt): FactAt => ({
  topic,
  message: poisoned({ correlationId: CANARY, ...value }) as Message,
});

class RecordedLog implements Log {
  readonly lines: string[] = [];
  readonly debug = (fields: LogFields, event: string): void => void this.lines.push(JSON.stringify([fields, event]));
  readonly info = this.debug;
  readonly warn = this.debug;
  readonly error = this.debug;
  child(): Log {
    return this;
  }
}

describe('what is audited and logged holds no content', () => {
  it('canaries in arguments, results, errors, names, labels, reasons and traces are in no record, no event and no log line', async () => {
    const log = new RecordedLog();
    const telemetry = await openTelemetry({ log });
    const tenant = 'acme';
    const { runId, callIds, facts } = runFacts(tenant, newId('run'), 1);
    const failed = facts.find((fact) => fact.message.type === 'CallSettled')!;
    const settled = failed.message as Message<'CallSettled'>;
    const more: FactAt[] = [
      {
        ...failed,
        message: {
          ...settled,
          callId: callIds[0]!.replace(/.$/, '7'),
          data: {
            ...settled.data,
            status: 'failed',
            error: { code: 'TOOL_ERROR', message: CANARY, retryable: false, details: [{ path: CANARY, rule: CANARY }] },
          },
        } as Message,
      },
      {
        topic: 'call.rejected',
        message: {
          ...facts.findLast((fact) => fact.message.type === 'CallSettled')!.message,
          callId: callIds[0]!.replace(/.$/, '8'),
          data: {
            ...settled.data,
            settledBy: 'orchestrator',
            status: 'rejected',
            tool: 'canary_0123456789abcdef.canary',
            contractDigest: null,
          },
        } as Message,
      },
      {
        topic: 'call.rejected',
        message: { ...settled, callId: callIds[0]!.replace(/.$/, '9') },
      },
      {
        topic: 'call.returned.default',
        message: message(
          'GrantRefused',
          { tenant, runId, callId: callIds[0]!, now: 0 },
          { code: 'GRANT_INVALID', message: CANARY, grantDigest: digestText('g', 'x'), pool: 'default' },
        ),
      },
      {
        topic: 'run.events',
        message: message(
          'CommandRefused',
          { tenant, runId, now: 0 },
          { commandId: newId('cmd'), code: 'INVALID_ARGS', message: CANARY },
        ),
      },
    ];
    await reduceFacts(telemetry, [...facts, ...more].map(poison));
    await allPublished(telemetry, tenant);
    telemetry.published.push = () => {
      throw new Error(CANARY, { cause: new Error(CANARY) });
    };
    await reduceFacts(telemetry, runFacts(tenant, newId('run'), 2).facts.map(poison));
    await telemetry.parts.workers![0]!.drain();
    const texts = await storedTexts(telemetry, tenant);
    expect(texts).toHaveLength(14 + 4 + 14);
    expect(log.lines.join('\n')).toMatch(/topic of another holder[\s\S]*stay unpublished/);
    const seen = [...texts, ...telemetry.published.map((out) => out.raw.value.toString()), ...log.lines].join('\n');
    expect(seen).not.toMatch(/canary/i);
    expect(seen).toContain(WITHHELD);
    await telemetry.close();
  });

  it('ids, names, codes and digests pass; everything else is withheld, whatever its field', () => {
    const digest = digestText('a', 'b');
    const passed = {
      principal: 'user:jörg.müller@example.org',
      approver: 'auth0|5f7c8ec7c33c6c004bbafe82',
      reasons: ['default/own-tenant-reads', 'triage/open.cedar/1'],
      tool: 'ops.write@1.0.0',
      namespace: 'ops',
      error_code: 'TOOL_ERROR',
      contract_digest: digest,
      resource_digests: [digest],
      expires_at: '2026-01-01T00:00:00.000Z',
      trace_id: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      attempts: 1,
      replayed: false,
      approval_id: null,
    };
    type Field = keyof typeof passed;
    type Given = Record<Field, never>;
    const fields = {
      principal: form.name((of: Given) => of.principal),
      approver: form.name((of: Given) => of.approver),
      reasons: form.names((of: Given) => of.reasons),
      tool: form.toolName((of: Given) => of.tool),
      namespace: form.namespace((of: Given) => of.namespace),
      error_code: form.code((of: Given) => of.error_code),
      contract_digest: form.digest((of: Given) => of.contract_digest),
      resource_digests: form.digests((of: Given) => of.resource_digests),
      expires_at: form.instant((of: Given) => of.expires_at),
      trace_id: form.trace((of: Given) => of.trace_id),
      attempts: form.number((of: Given) => of.attempts),
      replayed: form.flag((of: Given) => of.replayed),
      approval_id: form.name((of: Given) => of.approval_id),
    };
    expect(form.readFields(fields, passed as Given)).toEqual(passed);
    for (const text of ['two words', '{"a":1}', 'a\nb', '', '"', '<script>', 'x'.repeat(193), 'Bearer: x y'])
      for (const field of Object.keys(passed))
        expect(form.readFields(fields, { ...passed, [field]: text } as Given)).toMatchObject({ [field]: WITHHELD });
  });
});
