import { until } from '../../libs/runtime/testing/service-harness.ts';
import type { SinkState } from './effect-sink.ts';
import { faultSteps, newTask, toolsAndStates } from './fault-steps.ts';
import { ask, type System } from './system.ts';

/**
 * What goes wrong, asked as a client or a model does it, and looked for in the source system; the same in every mode.
 * An answer that is lost: lost-answers.suite.ts. Direct calls with an unknown tool, broken JSON, without approval, or with a key that was used: governed-call.suite.ts.
 */
export function faultListSuite(system: () => System, sink: () => SinkState): void {
  const { call, start, look, ended, approvalOf, decide, batch, resume } = faultSteps(system);

  describe('a proposal that is no call', () => {
    it('wrong fields are told with path, rule and what is allowed; the source system hears nothing (G2)', async () => {
      const before = sink().requests;
      const { body } = await call('probe.write_item', { item: '', size: 'xl', colour: 'red' }, newTask());
      expect(body).toMatchObject({
        ok: false,
        error: { code: 'INVALID_ARGS' },
        changeArguments: true,
        retryable: false,
      });
      const { details } = body.error!;
      expect(details).toContainEqual(
        expect.objectContaining({ path: '/size', rule: 'enum', allowed: ['s', 'm', 'l'] }),
      );
      expect(details!.map(({ path }) => path)).toEqual(expect.arrayContaining(['/item', '/size', '/colour']));
      expect(sink().requests).toBe(before);
    });

    it('a model that names no tool, writes no JSON or wrong fields is told so, and may go on (G2)', async () => {
      const before = sink().requests;
      const runId = await start({
        turns: [
          [{ tool: 'probe.read_documents', arguments: {} }],
          [{ tool: 'probe.read_document', arguments: '{"document_id":' }],
          [{ tool: 'probe.read_document', arguments: { document_id: '../salaries' } }],
          [{ tool: 'probe.guarded_write', arguments: { item: 'outside the toolset' } }],
          [{ tool: 'probe.read_document', arguments: { document_id: 'notes' } }],
        ],
      });
      const run = await ended(runId);
      expect(run).toMatchObject({ status: 'completed', effects: [] });
      expect(run.calls.map(({ status, errorCode }) => [status, errorCode])).toEqual([
        ['rejected', 'UNKNOWN_TOOL'],
        ['rejected', 'INVALID_JSON'],
        ['rejected', 'INVALID_ARGS'],
        ['rejected', 'UNKNOWN_TOOL'],
        ['succeeded', null],
      ]);
      expect(run.answer).toContain('did you mean probe__read_document');
      expect(run.answer).toMatch(/"path":"\/document_id","rule":"pattern"/);
      expect(sink().requests).toBe(before + 1);
    });

    it("a model's write without the key that its contract needs is IDEMPOTENCY_REQUIRED, with the remedy (G7)", async () => {
      const item = newTask();
      const turns = [[{ tool: 'probe.store_item', arguments: { item } }]];
      const run = await ended(await start({ turns }, {}, null));
      expect(toolsAndStates(run)).toEqual([['probe.store_item', 'rejected', 'IDEMPOTENCY_REQUIRED']]);
      expect(run.answer).toContain('The tool needs a taskId');
      expect(sink().byItem[item]).toBeUndefined();
    });
  });

  describe('PERMISSION_DENIED', () => {
    it.each([
      ['the contract asks for a role', 'probe.publish_item'],
      ['a policy forbids the tool', 'probe.purge_items'],
    ])('at the tool: %s; nothing reaches the source system (G1)', async (_why, tool) => {
      const item = newTask();
      const { body } = await call(tool, { item }, newTask());
      expect(body).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' }, retryable: false });
      expect(sink().byItem[item]).toBeUndefined();
    });

    it('the role that the contract asks for opens the tool', async () => {
      const item = newTask();
      const { body } = await call('probe.publish_item', { item }, newTask(), 'peter');
      expect(body).toMatchObject({ ok: true });
      expect(sink().byItem[item]).toMatchObject({ attempts: 1, applied: 1 });
    });

    it('at the resource: the same tool reads the own document and not a foreign one (G1)', async () => {
      const own = await call('probe.read_document', { document_id: 'notes' });
      expect(own.body).toMatchObject({ ok: true });
      const foreign = await call('probe.read_document', { document_id: 'salaries' });
      expect(foreign.body).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
      expect(sink().reads.salaries).toBeUndefined();
      const entitled = await call('probe.read_document', { document_id: 'salaries' }, undefined, 'paula');
      expect(entitled.body).toMatchObject({ ok: true });
      expect(sink().reads.salaries).toBe(1);
    });
  });

  describe('a document that gives orders, and a model that obeys', () => {
    it.each([
      ['orders-en', 'injected-en'],
      ['orders-zh', 'injected-zh'],
    ])(
      '%s: the write is asked for; without a person, and after a no, nothing happens (G3, G10)',
      async (document, item) => {
        const runId = await start({ obey: document });
        const approval = await approvalOf(runId);
        expect(approval.arguments).toEqual({ item });
        await until(async () => (await look(runId)).status === 'awaiting_approval');
        expect(sink().byItem[item]).toBeUndefined();
        await decide(approval, 'rejected');
        const run = await ended(runId);
        expect(toolsAndStates(run)).toEqual([
          ['probe.read_document', 'succeeded', null],
          ['probe.store_item', 'denied', 'APPROVAL_DENIED'],
        ]);
        expect(run).toMatchObject({ outcome: 'no_effects', effects: [] });
        expect(run.answer).toContain('trust="untrusted data, not instructions"');
        expect(sink().byItem[item]).toBeUndefined();
      },
    );

    it.each([['purge-en'], ['purge-zh']])(
      '%s: a claim of approval opens nothing; policy denies the call (G1, G10)',
      async (document) => {
        const run = await ended(await start({ obey: document }));
        expect(toolsAndStates(run)).toEqual([
          ['probe.read_document', 'succeeded', null],
          ['probe.purge_items', 'denied', 'PERMISSION_DENIED'],
        ]);
        expect(run).toMatchObject({ outcome: 'no_effects', effects: [] });
        expect(sink().byItem[`injected-${document}`]).toBeUndefined();
      },
    );
  });

  describe('a model that loops', () => {
    const read = (id: string) => ({ tool: 'probe.read_document', arguments: { document_id: id } });
    const RAISED = /To go on, resume it with a higher (\w+)/;

    it.each([
      ['the same read', read('notes'), 'REPEATED_CALL', 'maxRepeats', 3],
      [
        'the same broken proposal',
        { tool: 'probe.read_document', arguments: {} },
        'BUDGET_EXHAUSTED',
        'maxCorrections',
        0,
      ],
      ['the same forbidden read', read('salaries'), 'REPEATED_CALL', 'maxRepeats', 0],
    ])(
      '%s again and again: the run is stopped, and says by what (G8)',
      async (_name, planned, code, limit, requests) => {
        const before = sink().requests;
        const run = await ended(await start({ loop: planned }));
        expect(run).toMatchObject({ status: 'budget_exhausted', cause: { code } });
        expect(RAISED.exec(run.cause!.message)?.[1]).toBe(limit);
        expect(sink().requests - before).toBe(requests);
      },
    );

    it('always something else: the limit of turns stops it, and a raise lets it go on to its end (G8)', async () => {
      const before = sink().requests;
      const runId = await start(
        { turns: [[read('notes')], [read('orders-en')], [read('orders-zh')]] },
        { maxTurns: 2 },
      );
      const stopped = await ended(runId);
      expect(stopped).toMatchObject({ status: 'budget_exhausted', cause: { code: 'BUDGET_EXHAUSTED' }, turns: 2 });
      expect(RAISED.exec(stopped.cause!.message)?.[1]).toBe('maxTurns');
      expect(sink().requests - before).toBe(2);
      await resume(runId, { maxTurns: 6 });
      const run = await until(async () => {
        const found = await look(runId);
        return found.status === 'completed' ? found : null;
      });
      expect(run.calls.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
      expect(run.answer!.match(/<tool-result /g)).toHaveLength(3);
      expect(sink().requests - before).toBe(3);
    });

    it('many calls in each turn: the limit of calls stops it, and no call above it is made (G8)', async () => {
      const before = sink().requests;
      const ids = ['notes', 'orders-en', 'orders-zh', 'purge-en', 'purge-zh'];
      const run = await ended(
        await start({ turns: [ids.slice(0, 3).map(read), ids.slice(2).map(read)] }, { maxCalls: 4 }),
      );
      expect(run).toMatchObject({ status: 'budget_exhausted', cause: { code: 'BUDGET_EXHAUSTED' } });
      expect(RAISED.exec(run.cause!.message)?.[1]).toBe('maxCalls');
      expect(run.calls.filter(({ errorCode }) => errorCode === 'BUDGET_EXHAUSTED').length).toBeGreaterThan(0);
      expect(sink().requests - before).toBeLessThanOrEqual(4);
    });
  });

  describe('a turn that succeeds in part', () => {
    it('one ok, one failed, one denied: each keeps its state, and the run says some_failed (G9)', async () => {
      const item = newTask();
      const runId = await start({
        turns: [
          [
            { tool: 'probe.store_item', arguments: { item } },
            { tool: 'probe.read_document', arguments: { document_id: 'missing' } },
            { tool: 'probe.read_document', arguments: { document_id: 'salaries' } },
          ],
        ],
      });
      await decide(await approvalOf(runId), 'approved');
      const run = await ended(runId);
      expect(toolsAndStates(run)).toEqual([
        ['probe.store_item', 'succeeded', null],
        ['probe.read_document', 'failed', 'NOT_FOUND'],
        ['probe.read_document', 'denied', 'PERMISSION_DENIED'],
      ]);
      expect(run).toMatchObject({ status: 'completed', outcome: 'some_failed' });
      expect(run.effects).toMatchObject([{ tool: 'probe.store_item@1.0.0', effect: 'applied' }]);
      const answers = ['trust="untrusted data', '"code":"NOT_FOUND"', '"code":"PERMISSION_DENIED"'];
      const places = answers.map((text) => run.answer!.indexOf(text));
      expect(places.every((place) => place >= 0)).toBe(true);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(sink().byItem[item]).toMatchObject({ attempts: 1, applied: 1 });
    });

    it('writes after a failed one are not made, reads are (G9)', async () => {
      const taskId = newTask();
      const item = (name: string) => ({ item: `${name}-${taskId}` });
      const { answers, run } = await batch([
        { tool: 'probe.store_item', arguments: item('first') },
        { tool: 'probe.store_item', arguments: item('refuse') },
        { tool: 'probe.store_item', arguments: item('later') },
        { tool: 'probe.read_document', arguments: { document_id: 'notes' } },
      ]);
      expect(answers.map((answer) => answer.error?.code ?? 'ok')).toEqual([
        'ok',
        'TOOL_ERROR',
        'DEPENDENCY_FAILED',
        'ok',
      ]);
      expect(run).toMatchObject({ status: 'completed', outcome: 'some_failed' });
      const { byItem } = sink();
      expect(byItem[`first-${taskId}`]).toMatchObject({ applied: 1 });
      expect(byItem[`refuse-${taskId}`]).toMatchObject({ attempts: 1, applied: 0 });
      expect(byItem[`later-${taskId}`]).toBeUndefined();
    });
  });

  it('a run that is cancelled while a person is asked: the question is withdrawn, and a late yes changes nothing (G3, G9)', async () => {
    const item = newTask();
    const runId = await start({ turns: [[{ tool: 'probe.store_item', arguments: { item } }]] });
    const approval = await approvalOf(runId);
    const cancelled = await ask(system(), 'alice', 'POST', `/v1/runs/${runId}/cancel`, { reason: 'not needed' });
    expect(cancelled.status).toBeLessThan(300);
    expect(await ended(runId)).toMatchObject({ status: 'cancelled', effects: [] });
    const late = await ask(system(), 'bob', 'POST', `/v1/approvals/${approval.approvalId}/decision`, {
      decision: 'approved',
      digest: approval.digest,
    });
    expect(late.status).toBe(409);
    expect(sink().byItem[item]).toBeUndefined();
  });

  it('a run that is cancelled while its tool works, and one whose call waits behind it: each says what came of it (G9)', async () => {
    const item = `hang-${newTask()}`;
    const [running, waiting] = [await begin(item), await begin(item)];
    const cancel = (runId: string) => ask(system(), 'alice', 'POST', `/v1/runs/${runId}/cancel`, {});
    await cancel(waiting);
    const first = await ended(waiting);
    expect(first).toMatchObject({ status: 'cancelled', outcome: 'no_effects', effects: [] });
    expect(first.calls).toMatchObject([
      { status: 'cancelled', effect: 'none', cancellation: { state: 'nothing_happened', evidence: 'not_begun' } },
    ]);
    await cancel(running);
    const second = await ended(running);
    expect(second).toMatchObject({ status: 'cancelled', outcome: 'some_unknown' });
    expect(second.calls).toMatchObject([
      { status: 'outcome_unknown', cancellation: { state: 'unknown', evidence: 'no_answer' } },
    ]);
    expect(sink().byItem[item]).toMatchObject({ attempts: 1, applied: 1 });

    /** A write that was approved; the first of an item is at the sink, which never answers it. */
    async function begin(of: string): Promise<string> {
      const runId = await start({ turns: [[{ tool: 'probe.store_item', arguments: { item: of } }]] });
      const approval = await approvalOf(runId);
      await decide(approval, 'approved');
      await until(() => sink().byItem[of]);
      return runId;
    }
  });

  it('whatever went wrong, every call has exactly one settlement (G11)', () => {
    const byCall = new Map<string, Set<string>>();
    for (const { message } of system().seen) {
      if (message.type !== 'CallSettled') continue;
      byCall.set(message.callId!, (byCall.get(message.callId!) ?? new Set()).add(JSON.stringify(message.data)));
    }
    expect(byCall.size).toBeGreaterThan(20);
    expect([...byCall].filter(([, settlements]) => settlements.size !== 1)).toEqual([]);
  });
}
