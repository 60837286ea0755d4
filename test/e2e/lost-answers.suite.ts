import { until } from '../../libs/runtime/testing/service-harness.ts';
import type { SinkState } from './effect-sink.ts';
import { faultSteps, newTask, toolsAndStates } from './fault-steps.ts';
import { ask, type System } from './system.ts';

/** A source system that has the effect and gives no answer: looked for there, as a client and a model meet it. */
export function lostAnswersSuite(system: () => System, sink: () => SinkState): void {
  const { call, start, look, ended, approvalOf, decide } = faultSteps(system);

  describe('the source system has the effect, then hangs', () => {
    it('with a key: asked once more under the same key, answered, one effect (G5, G7)', async () => {
      const taskId = newTask();
      const item = `hang-once-${taskId}`;
      const { body } = await call('probe.slow_item', { item }, taskId);
      expect(body).toMatchObject({ ok: true, data: { item } });
      expect(sink().byItem[item]).toEqual({
        attempts: 2,
        applied: 1,
        keys: [`dev/user:alice/${taskId}:${item}`],
      });
    });

    it('with a key, and it hangs for good: OUTCOME_UNKNOWN; the same order again does not reach it (G5, G9)', async () => {
      const taskId = newTask();
      const item = `hang-${taskId}`;
      const { body } = await call('probe.slow_item', { item }, taskId);
      expect(body).toMatchObject({
        ok: false,
        error: { code: 'OUTCOME_UNKNOWN' },
        retryable: false,
        humanTakeover: true,
      });
      const after = sink().byItem[item]!;
      expect(after).toEqual({ attempts: 2, applied: 1, keys: [`dev/user:alice/${taskId}:${item}`] });
      const again = await call('probe.slow_item', { item }, taskId);
      expect(again.body).toMatchObject({ ok: false, error: { code: 'OUTCOME_UNKNOWN' } });
      expect(sink().byItem[item]).toEqual(after);
    });

    it('without a key: never asked again, one effect, and the model is told not to repeat it (G5, G9)', async () => {
      const item = `hang-${newTask()}`;
      const runId = await start({ turns: [[{ tool: 'probe.slow_item_once', arguments: { item } }]] });
      await decide(await approvalOf(runId), 'approved');
      const run = await ended(runId);
      expect(toolsAndStates(run)).toEqual([['probe.slow_item_once', 'outcome_unknown', 'OUTCOME_UNKNOWN']]);
      expect(run).toMatchObject({ status: 'completed', outcome: 'some_unknown' });
      expect(run.effects).toMatchObject([{ effect: 'unknown' }]);
      expect(run.answer).toContain('"code":"OUTCOME_UNKNOWN"');
      expect(run.answer).toContain('Do not repeat it');
      expect(sink().byItem[item]).toEqual({ attempts: 1, applied: 1, keys: [] });

      const { callId } = run.calls[0]!;
      const queue = await ask<{ items: { callId: string; needsHuman: boolean }[] }>(
        system(),
        'olga',
        'GET',
        '/v1/unknowns?limit=200',
      );
      expect(queue.body.items.find((unknown) => unknown.callId === callId)).toMatchObject({ needsHuman: true });
      const body = { resolution: 'applied', evidence: 'the sink counts one effect' };
      const path = `/v1/calls/${callId}/resolve`;
      expect((await ask(system(), 'alice', 'POST', path, body)).status).toBe(403);
      expect((await ask(system(), 'other/olga', 'POST', path, body)).status).toBe(404);
      const resolved = await ask(system(), 'olga', 'POST', path, body);
      expect(resolved).toMatchObject({ status: 200, body: { status: 'succeeded', effect: 'applied' } });
      expect((await ask(system(), 'olga', 'POST', path, { ...body, resolution: 'not_applied' })).status).toBe(409);
      const after = await until(async () => {
        const now = await look(runId);
        return now.outcome === 'some_unknown' ? null : now;
      });
      expect(after).toMatchObject({ status: 'completed', outcome: 'all_succeeded', effects: [{ effect: 'applied' }] });
      expect(sink().byItem[item]).toEqual({ attempts: 1, applied: 1, keys: [] });
    });

    it('without a key, but with a probe: it is found out to be applied; one attempt, one effect (G5, G9)', async () => {
      const item = `hang-${newTask()}`;
      const runId = await start({ turns: [[{ tool: 'probe.probed_item', arguments: { item } }]] });
      await decide(await approvalOf(runId), 'approved');
      const run = await ended(runId);
      expect(toolsAndStates(run)).toEqual([['probe.probed_item', 'succeeded', null]]);
      expect(run).toMatchObject({ outcome: 'all_succeeded', effects: [{ effect: 'applied' }] });
      expect(sink().byItem[item]).toEqual({ attempts: 1, applied: 1, keys: [] });
    });
  });
}
