import { message, type Message } from '#contracts';
import { callIdOf, runIdFromKey } from '#kernel';
import { openGateway, settled, startedBy, views, type HttpGateway } from '../../testing/http-gateway.ts';

const TOOL = 'desk.create_ticket';
const body = { tool: TOOL, arguments: { summary: 'disk full' }, taskId: 'task-1' };

describe('one governed call over HTTP', () => {
  let gateway: HttpGateway;
  let stored: Record<string, unknown> = {};
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'state-store.call': ({ callId }: { callId: string }) => stored[callId] ?? null,
        'orchestrator.run': ({ runId }: { runId: string }) => stored[runId] ?? null,
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    stored = {};
    gateway.forget();
  });

  const call = (headers: Record<string, string> = {}, what: object = body) =>
    gateway.request('POST', '/v1/calls', { body: what, headers });
  const idsOf = (start: Message<'StartRun'>) => ({
    tenant: start.tenant,
    runId: start.runId!,
    callId: start.data.proposals[0]!.callId!,
  });

  it('is durable before it is acknowledged, and its ids can be read at once (G4)', async () => {
    const answer = await call();
    expect(answer.status).toBe(202);
    const start = await gateway.published('StartRun');
    const { runId, callId } = idsOf(start);
    expect(answer.body).toEqual({ runId, callId, status: 'accepted' });
    expect(answer.headers.location).toBe(`/v1/calls/${callId}`);
    expect(callId).toBe(callIdOf(runId, 1));
    expect(start.data).toMatchObject({
      driver: 'call',
      principal: { id: 'user:alice', kind: 'user', roles: ['agent'] },
      taskId: 'task-1',
      toolset: [{ tool: 'desk.create_ticket@1.0.0', digest: expect.stringMatching(/^sha256:/) }],
      proposals: [{ callId, tool: TOOL, arguments: '{"summary":"disk full"}' }],
    });
    expect((await gateway.request('GET', `/v1/calls/${callId}`)).body).toMatchObject({
      callId,
      runId,
      status: 'accepted',
    });
    expect((await gateway.request('GET', `/v1/runs/${runId}`)).body).toMatchObject({
      runId,
      status: 'accepted',
      driver: 'call',
    });
  });

  it('with Prefer: wait it answers the settlement as soon as it comes, without a key without RunStarted', async () => {
    const answering = call({ prefer: 'wait=30', 'x-request-id': 'req-7' });
    const ids = idsOf(await gateway.published('StartRun'));
    await gateway.service.deliver('call.settled.default', settled(ids, { providerCallId: 'prov-1' }));
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'preference-applied': 'wait=30', 'x-request-id': 'req-7' });
    expect(answer.body).toEqual({
      ok: true,
      data: { id: 'T-1' },
      tool: 'desk.create_ticket@1.0.0',
      callId: ids.callId,
      runId: ids.runId,
      providerCallId: 'prov-1',
      requestId: 'req-7',
      replayed: false,
      evidence: { resourceIds: ['ticket:T-1'], sources: [] },
      truncated: null,
      fault: null,
    });
  });

  it('a failure says what can be done next, and shows nothing of the model-facing view (G10)', async () => {
    const answering = call({ prefer: 'wait=30' });
    const ids = idsOf(await gateway.published('StartRun'));
    const details = [{ path: '/severity', rule: 'enum', allowed: ['sev1'] }];
    const error = {
      code: 'INVALID_ARGS' as const,
      message: 'do not fit',
      details,
      retryable: false,
      changeArguments: true,
    };
    const failed = settled(ids, { status: 'rejected', settledBy: 'orchestrator', effect: 'none', error, result: null });
    await gateway.service.deliver('call.rejected', failed);
    const answer = await answering;
    expect(answer).toMatchObject({
      status: 200,
      body: {
        ok: false,
        error: { code: 'INVALID_ARGS', details },
        changeArguments: true,
        status: 'rejected',
        effect: 'none',
      },
    });
    expect(JSON.stringify(answer.body)).not.toContain('<data>');
  });

  it('a bad reply of a write that was done stays a success, with the fault beside it (G9)', async () => {
    const answering = call({ prefer: 'wait=30' });
    const ids = idsOf(await gateway.published('StartRun'));
    const fault = { code: 'INVALID_RESULT' as const, message: 'does not fit', retryable: false };
    await gateway.service.deliver(
      'call.settled.default',
      settled(ids, { result: { ...views, sanitized: null, fault } }),
    );
    expect((await answering).body).toMatchObject({ ok: true, data: null, fault: { code: 'INVALID_RESULT' } });
  });

  it('a settlement under the same id but of another tenant answers nobody (G12)', async () => {
    const answering = call({ prefer: 'wait=1' });
    const ids = idsOf(await gateway.published('StartRun'));
    await gateway.service.deliver('call.settled.default', settled({ ...ids, tenant: 'other' }));
    expect((await answering).status).toBe(202);
  });

  it('what this process missed is answered from the read port', async () => {
    const answering = call({ prefer: 'wait=30' });
    const { runId, callId } = idsOf(await gateway.published('StartRun'));
    stored[callId] = {
      callId,
      runId,
      tool: TOOL,
      status: 'succeeded',
      effect: 'applied',
      replayed: true,
      result: views,
    };
    expect(await answering).toMatchObject({
      status: 200,
      body: { ok: true, data: { id: 'T-1' }, replayed: true, callId },
    });
  });

  it('the same key names the same run and call; a finished one is answered again (G7)', async () => {
    const headers = { 'idempotency-key': '"k-1"', prefer: 'wait=30' };
    const runId = runIdFromKey('dev', 'user:alice', 'POST /v1/calls', 'k-1');
    const first = call(headers);
    const start = await gateway.published('StartRun');
    expect(start.runId).toBe(runId);
    await gateway.service.deliver('run.events', startedBy(start));
    await gateway.service.deliver('call.settled.default', settled(idsOf(start)));
    const answered = await first;
    const { callId } = idsOf(start);
    stored[callId] = {
      callId,
      runId,
      tool: 'desk.create_ticket@1.0.0',
      status: 'succeeded',
      effect: 'applied',
      result: views,
    };
    const second = call({ ...headers, 'idempotency-key': 'k-1' });
    await gateway.service.deliver('run.events', startedBy(await gateway.published('StartRun', 1)));
    expect((await second).body).toEqual({ ...answered.body, requestId: expect.any(String) });
  });

  it('a repeat while the first is running waits for the same settlement', async () => {
    const headers = { 'idempotency-key': 'k-1', prefer: 'wait=30' };
    const both = [call(headers), call(headers)];
    const start = await gateway.published('StartRun', 1);
    await gateway.service.deliver('run.events', startedBy(start));
    await gateway.service.deliver('call.settled.default', settled(idsOf(start)));
    expect((await Promise.all(both)).map((answer) => answer.body.data)).toEqual([{ id: 'T-1' }, { id: 'T-1' }]);
  });

  it.each([
    ['with a wait', { prefer: 'wait=30' }],
    ['without a wait', {}],
  ])(
    'the same key with other content is a conflict, and the first result is not given away (G7), %s',
    async (_name, prefer) => {
      const answering = call({ 'idempotency-key': 'k-1', ...prefer });
      const start = await gateway.published('StartRun');
      await gateway.service.deliver('call.settled.default', settled(idsOf(start)));
      await gateway.service.deliver('run.events', startedBy(start, { requestDigest: `sha256:${'f'.repeat(64)}` }));
      expect(await answering).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
    },
  );

  it('a conflict is also seen by the read port when the event was missed', async () => {
    const runId = runIdFromKey('dev', 'user:alice', 'POST /v1/calls', 'k-1');
    stored[runId] = { runId, status: 'running', requestDigest: `sha256:${'f'.repeat(64)}` };
    expect(await call({ 'idempotency-key': 'k-1' })).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_CONFLICT' },
    });
  });

  it('a refusal by the orchestrator is told as such', async () => {
    const answering = call({ prefer: 'wait=30' });
    const start = await gateway.published('StartRun');
    const { tenant, runId } = idsOf(start);
    const refused = { commandId: start.data.commandId, code: 'BUDGET_EXHAUSTED' as const, message: 'no calls left' };
    await gateway.service.deliver('run.events', message('CommandRefused', { tenant, runId, now: 0 }, refused));
    expect(await answering).toMatchObject({ status: 409, body: { code: 'BUDGET_EXHAUSTED', detail: 'no calls left' } });
  });

  it('an unknown tool is a call too: the orchestrator settles it, and gets the names that may have been meant', async () => {
    expect((await call({}, { tool: 'desk.create_tickets', arguments: {} })).status).toBe(202);
    const start = await gateway.published('StartRun');
    expect(start.data.proposals[0]!.tool).toBe('desk.create_tickets');
    expect(start.data.toolset.map((ref) => ref.tool)).toEqual(['desk.create_ticket@1.0.0']);
  });

  it('arguments may be the raw text of a provider: it is passed on as it is', async () => {
    await call({}, { ...body, arguments: '{"summary":"a","summary":"b"' });
    expect((await gateway.published('StartRun')).data.proposals[0]!.arguments).toBe('{"summary":"a","summary":"b"');
  });

  it("another caller's call is not there, for another tenant not even for operators (G12)", async () => {
    await call();
    const { callId, runId } = idsOf(await gateway.published('StartRun'));
    for (const [as, status] of [
      ['dev.dev.alice.agent', 200],
      ['dev.dev.olga.operator', 200],
      ['dev.dev.mallory.agent', 404],
      ['dev.other.olga.operator', 404],
      ['dev.dev.bob.approver', 403],
    ] as const) {
      expect((await gateway.request('GET', `/v1/calls/${callId}`, { as })).status).toBe(status);
      expect((await gateway.request('GET', `/v1/runs/${runId}`, { as })).status).toBe(status);
    }
  });

  it('a view that does not know its owner yet is shown to nobody but the owner', async () => {
    const runId = runIdFromKey('dev', 'user:x', 'POST /v1/calls', 'k');
    const callId = callIdOf(runId, 1);
    stored[callId] = { callId, runId, tenant: 'dev', principal: null, status: 'proposed' };
    const look = async (as: string) => (await gateway.request('GET', `/v1/calls/${callId}`, { as })).status;
    expect(await look('dev.dev.alice.agent')).toBe(404);
    stored[runId] = { runId, tenant: 'dev', principal: 'user:alice', status: 'running', calls: [] };
    expect(await look('dev.dev.alice.agent')).toBe(200);
    expect(await look('dev.dev.mallory.agent')).toBe(404);
  });

  it('a settled call of which only the summary is known shows no result, rather than an empty one (G9)', async () => {
    const runId = runIdFromKey('dev', 'user:x', 'POST /v1/calls', 'k2');
    const callId = callIdOf(runId, 1);
    const summary = { callId, tool: TOOL, status: 'succeeded', effect: 'applied' };
    stored[runId] = { runId, tenant: 'dev', principal: 'user:alice', status: 'completed', calls: [summary] };
    expect((await gateway.request('GET', `/v1/calls/${callId}`)).body).toMatchObject({
      status: 'succeeded',
      result: null,
    });
    stored[callId] = { ...summary, runId, principal: 'user:alice', result: views, error: null };
    const shown = (await gateway.request('GET', `/v1/calls/${callId}`)).body;
    expect(shown).toMatchObject({ status: 'succeeded', result: { ok: true, data: { id: 'T-1' } } });
    expect(shown).not.toHaveProperty('error');
  });

  it('a view of another tenant is not shown, even if a service gave it (G12)', async () => {
    const runId = runIdFromKey('other', 'user:x', 'POST /v1/runs', 'k');
    stored[runId] = { runId, tenant: 'other', principal: 'user:alice', status: 'running' };
    expect((await gateway.request('GET', `/v1/runs/${runId}`)).status).toBe(404);
  });
});

it('a drain answers those who wait with what is known', async () => {
  const gateway = await openGateway();
  const answering = gateway.request('POST', '/v1/calls', { body, headers: { prefer: 'wait=60' } });
  await gateway.published('StartRun');
  const closing = gateway.close();
  expect((await answering).status).toBe(202);
  await closing;
});
