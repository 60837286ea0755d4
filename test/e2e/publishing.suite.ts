import { randomBytes } from 'node:crypto';
import { verifyOverHttp } from '#audit';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import type { SinkState } from './effect-sink.ts';
import { ask, ownFaults, type System } from './system.ts';

interface Answer {
  readonly ok: boolean;
  readonly error?: { readonly code: string; readonly message: string };
}

const TOOL_CHANGED = 'dev.countersign.tool.changed.v1';
interface AuditRecord {
  readonly type: string;
  readonly data: Readonly<Record<string, string | null>>;
}

/** Tools that come and go while all services run; the same in every mode. */
export function publishingSuite(system: () => System, sink: () => SinkState): void {
  const name = `late_${randomBytes(4).toString('hex')}`;
  const contract = {
    namespace: 'probe',
    name,
    version: '1.0.0',
    layer: 'write',
    title: 'Write an item',
    description: 'Stores one item.',
    whenToUse: 'To store one item.',
    whenNotToUse: 'To read items.',
    risk: 'low',
    sideEffects: 'reversible',
    input: {
      type: 'object',
      properties: { item: { type: 'string' } },
      required: ['item'],
      additionalProperties: false,
    },
    output: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    errors: [{ when: 409, code: 'IDEMPOTENCY_CONFLICT', noEffect: true, meaning: 'The key was used otherwise.' }],
    approval: { mode: 'policy' },
    idempotency: { mode: 'key', template: '{task}:{arg:item}', place: { header: 'Idempotency-Key' } },
    noUndoReason: 'the sink keeps what it counted',
    execution: { kind: 'http', method: 'POST', url: '${PROBE_URL}/items' },
  };
  const call = async (item: string): Promise<Answer> => {
    const body = { tool: `probe.${name}`, arguments: { item }, taskId: `task-${item}` };
    return (await ask<Answer>(system(), 'alice', 'POST', '/v1/calls', body, { prefer: 'wait=30' })).body;
  };
  const readAll = async <T>(path: string, person: string): Promise<T[]> => {
    const items: T[] = [];
    for (let after = ''; ;) {
      const { body } = await ask<{ items: T[]; next: string | null }>(
        system(),
        person,
        'GET',
        `${path}?limit=500${after}`,
      );
      items.push(...body.items);
      if (body.next === null) return items;
      after = `&after=${body.next}`;
    }
  };
  const stand = (verb: string) =>
    ask(system(), 'pat', 'POST', `/v1/tools/probe.${name}/${verb}`, { reason: 'it stores the wrong items' });

  describe('a tool that is published while the services run', () => {
    it('is used at once by all of them, and its effect is in the source system', async () => {
      const put = await ask(system(), 'pat', 'PUT', `/v1/tools/probe/${name}/1.0.0`, contract);
      expect([put.status, put.body]).toEqual([201, expect.objectContaining({ state: 'published', live: true })]);
      expect(await call(`${name}-a`)).toMatchObject({ ok: true });
      expect(sink().byItem[`${name}-a`]).toMatchObject({ applied: 1 });
    });

    it('quarantined: no call of it has an effect any more, not even in a run that began before; released, it works', async () => {
      const run = await ask<{ runId: string }>(system(), 'alice', 'POST', '/v1/runs', {
        driver: 'client',
        toolset: [`probe.${name}`],
        taskId: `task-${name}`,
        budgets: { maxCalls: 200 },
      });
      expect((await stand('quarantine')).status).toBe(200);
      expect(await call(`${name}-b`)).toMatchObject({ ok: false, error: { code: 'UNKNOWN_TOOL' } });
      expect(sink().byItem[`${name}-b`]).toBeUndefined();
      let asked = 0;
      // Policy and the executors hear of it within a second; from then on a run that holds the tool is denied.
      const denied = await until(async () => {
        const calls = [{ tool: `probe.${name}`, arguments: { item: `${name}-c${++asked}` } }];
        const { body } = await ask<{ calls: Answer[] }>(
          system(),
          'alice',
          'POST',
          `/v1/runs/${run.body.runId}/calls`,
          { calls },
          { prefer: 'wait=30' },
        );
        return body.calls[0]!.ok ? null : body.calls[0];
      });
      // By policy, or by an executor that hears of it first.
      expect(denied).toMatchObject({
        error: { code: 'PERMISSION_DENIED', message: expect.stringContaining('quarantined') },
      });
      expect(sink().byItem[`${name}-c${asked}`]).toBeUndefined();
      expect((await stand('release')).status).toBe(200);
      await until(async () => (await call(`${name}-d`)).ok);
      expect(sink().byItem[`${name}-d`]).toMatchObject({ applied: 1 });
    });

    it('each of these changes is a record of the audit: who, which content, and not why; the ledgers verify (G11)', async () => {
      const expected = ['published', 'quarantined', 'released'];
      const records = await until(async () => {
        const pages = await readAll<AuditRecord>('/v1/audit', 'ann');
        const found = pages.filter(({ type, data }) => type === TOOL_CHANGED && data.tool?.startsWith(`probe.${name}`));
        return found.length === expected.length ? found : null;
      });
      const history = await ask<{ items: { change: string; by: string }[] }>(
        system(),
        'ann',
        'GET',
        `/v1/tools/probe.${name}/changes`,
      );
      expect(history.body.items.map(({ change }) => change).reverse()).toEqual(expected);
      for (const { data } of records) expect(data).toMatchObject({ principal: 'user:pat', run_id: null });
      expect(records.map(({ data }) => data.change).sort()).toEqual(expected);
      expect(JSON.stringify(records)).not.toContain('the wrong items');
      const report = await verifyOverHttp({
        baseUrl: system().gateway,
        token: 'dev.dev.ann.auditor',
        settleMs: 20_000,
      });
      expect(ownFaults(report)).toEqual([]);
    });
  });
}
