import { message, type Message, type RunEnded } from '#contracts';
import { openGateway, settled, startedBy, type HttpGateway } from '../../testing/http-gateway.ts';

const ended: RunEnded = {
  status: 'completed',
  outcome: 'all_succeeded',
  cause: null,
  episode: 1,
  callCount: 0,
  callsDigest: `sha256:${'0'.repeat(64)}`,
  turns: 2,
  answer: 'done',
};

describe('runs over HTTP', () => {
  let gateway: HttpGateway;
  let stored: Record<string, unknown> = {};
  let listed: unknown[] = [];
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'state-store.run': ({ runId }: { runId: string }) => stored[runId] ?? null,
        'state-store.runs': (args: never) => {
          listed = [args];
          return {
            items: [
              { runId: 'run_1', tenant: 'dev', principal: 'user:alice' },
              { runId: 'run_2', principal: 'user:eve' },
            ],
            next: 'n',
          };
        },
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    stored = {};
    gateway.forget();
  });

  const start = (body: object, headers = {}) => gateway.request('POST', '/v1/runs', { body, headers });
  const endOf = (run: Message<'StartRun'>) =>
    message('RunEnded', { tenant: run.tenant, runId: run.runId!, now: 0 }, ended);

  it("an agent's run carries the agent, its toolset by digest, and the request's budgets over the agent's own", async () => {
    const body = { agent: 'clerk', input: 'go', taskId: 't', budgets: { maxCalls: 3 }, labels: { team: 'a' } };
    const answer = await start(body);
    const { data, runId } = await gateway.published('StartRun');
    expect(answer).toMatchObject({
      status: 202,
      headers: { location: `/v1/runs/${runId}` },
      body: { runId, status: 'accepted' },
    });
    expect(data).toMatchObject({
      driver: 'agent',
      agent: { name: 'clerk', model: 'gpt-5', provider: 'openai-responses' },
      input: 'go',
      toolset: [{ tool: 'desk.create_ticket@1.0.0' }],
      taskId: 't',
      budgets: { maxTurns: 4, maxCalls: 3, maxParallel: 8 },
      labels: { team: 'a' },
      proposals: [],
    });
    expect((await gateway.request('GET', `/v1/runs/${runId}`)).body).toMatchObject({
      status: 'accepted',
      agent: 'clerk',
      calls: [],
    });
  });

  it('with Prefer: wait it answers the view of the ended run, also when the view follows the event late', async () => {
    const answering = start({ agent: 'clerk', input: 'go' }, { prefer: 'wait=30' });
    const run = await gateway.published('StartRun');
    await gateway.service.deliver('run.events', startedBy(run), endOf(run));
    stored[run.runId!] = {
      runId: run.runId,
      tenant: 'dev',
      status: 'completed',
      answer: 'done',
      calls: [],
      effects: [],
    };
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ runId: run.runId, status: 'completed', answer: 'done', calls: [], effects: [] });
  });

  it('tells what the event says when the views stay behind', async () => {
    const answering = start({ agent: 'clerk', input: 'go' }, { prefer: 'wait=30' });
    const run = await gateway.published('StartRun');
    await gateway.service.deliver('run.events', endOf(run));
    expect((await answering).body).toMatchObject({
      runId: run.runId,
      status: 'completed',
      outcome: 'all_succeeded',
      answer: 'done',
      turns: 2,
    });
  });

  it('under a key a 202 waits for the admission, and a repeat with other content is refused (G7)', async () => {
    const body = { agent: 'clerk', input: 'go' };
    const first = start(body, { 'idempotency-key': 'k' });
    const admitted = startedBy(await gateway.published('StartRun'));
    await gateway.service.deliver('run.events', admitted);
    expect((await first).status).toBe(202);
    const other = start({ ...body, input: 'stop' }, { 'idempotency-key': 'k' });
    await gateway.published('StartRun', 1);
    await gateway.service.deliver('run.events', admitted);
    expect(await other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  });

  describe('driven by the client', () => {
    const open = async (): Promise<string> => (await start({ driver: 'client' })).body.runId as string;
    const calls = [
      { tool: 'desk.create_ticket', arguments: { summary: 'a' } },
      { tool: 'desk.create_ticket', arguments: '{"summary":"b"}', providerCallId: 'p2' },
    ];

    it('may use all live tools unless it names some', async () => {
      await open();
      expect((await gateway.published('StartRun')).data).toMatchObject({
        driver: 'client',
        toolset: [{ tool: 'desk.create_ticket@1.0.0' }],
      });
    });

    it('its proposals get their ids at once, the same ones under the same key', async () => {
      const runId = await open();
      const propose = () =>
        gateway.request('POST', `/v1/runs/${runId}/calls`, { body: { calls }, headers: { 'idempotency-key': 'k' } });
      const first = await propose();
      expect(first.status).toBe(202);
      expect(first.body.calls).toEqual(
        [0, 1].map(() => ({ callId: expect.stringMatching(/^call_/), status: 'accepted' })),
      );
      expect((await propose()).body).toEqual(first.body);
      const [one, two] = [await gateway.published('ProposeCalls'), await gateway.published('ProposeCalls', 1)];
      expect(two.data).toEqual(one.data);
      expect(one.data.proposals[1]).toMatchObject({ arguments: '{"summary":"b"}', providerCallId: 'p2' });
      const shown = await gateway.request('GET', `/v1/calls/${first.body.calls[1].callId}`);
      expect(shown.body).toMatchObject({ status: 'accepted', runId, providerCallId: 'p2' });
    });

    it('with Prefer: wait all results come back together, in the order of the proposals', async () => {
      const runId = await open();
      const answering = gateway.request('POST', `/v1/runs/${runId}/calls`, {
        body: { calls },
        headers: { prefer: 'wait=30' },
      });
      const { data, tenant } = await gateway.published('ProposeCalls');
      const [first, second] = data.proposals.map((proposal) => ({ tenant, runId, callId: proposal.callId }));
      await gateway.service.deliver('call.settled.default', settled(second!));
      await gateway.service.deliver('call.settled.default', settled(first!));
      expect(await answering).toMatchObject({
        status: 200,
        body: {
          calls: [
            { ok: true, callId: first!.callId },
            { ok: true, callId: second!.callId },
          ],
        },
      });
    });

    it("nobody proposes in another's run (G12)", async () => {
      const runId = await open();
      for (const as of ['dev.dev.mallory.agent', 'dev.other.alice.agent']) {
        expect((await gateway.request('POST', `/v1/runs/${runId}/calls`, { as, body: { calls } })).status).toBe(404);
        expect((await gateway.request('POST', `/v1/runs/${runId}/finish`, { as })).status).toBe(404);
      }
    });

    it('is finished by the client; a finish that does not fit is told', async () => {
      const runId = await open();
      expect(await gateway.request('POST', `/v1/runs/${runId}/finish`)).toMatchObject({ status: 202, body: { runId } });
      const answering = gateway.request('POST', `/v1/runs/${runId}/finish`, {
        body: {},
        headers: { prefer: 'wait=30' },
      });
      const { data } = await gateway.published('FinishRun', 1);
      const refused = { commandId: data.commandId, code: 'CANCELLED' as const, message: 'ended already' };
      await gateway.service.deliver('run.events', message('CommandRefused', { tenant: 'dev', runId, now: 0 }, refused));
      expect(await answering).toMatchObject({ status: 409, body: { detail: 'ended already' } });
    });
  });

  it("a list shows an agent its own runs, an operator all of the tenant's, and nothing that is ours alone", async () => {
    const own = await gateway.request('GET', '/v1/runs?limit=5&status=completed');
    expect(own.body).toEqual({
      items: [{ runId: 'run_1', principal: 'user:alice' }],
      next: expect.stringMatching(/^[\w-]+$/),
    });
    expect(listed).toEqual([{ tenant: 'dev', limit: 5, status: 'completed', principal: 'user:alice' }]);
    const all = await gateway.request('GET', '/v1/runs', { as: 'dev.acme.olga.operator' });
    expect(all.body.items).toHaveLength(2);
    expect(listed).toEqual([{ tenant: 'acme', limit: 50 }]);
  });
});
