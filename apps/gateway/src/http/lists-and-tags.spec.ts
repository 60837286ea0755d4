import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

const runId = `run_${'4'.repeat(26)}`;
const callId = `call_${'4'.repeat(26)}_0001`;
const approvalId = `appr_${'4'.repeat(26)}`;
const digest = `sha256:${'b'.repeat(64)}`;

describe('lists and documents over HTTP', () => {
  let gateway: HttpGateway;
  let asked: Record<string, unknown>[] = [];
  let run: Record<string, unknown>;
  let approval: Record<string, unknown>;
  const call = { callId, runId, tenant: 'dev', principal: 'user:alice', status: 'granted', error: null };
  const page = (item: object, next: string | null) => (args: never) => {
    asked.push(args);
    return { items: [item], next };
  };
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'state-store.run': () => run,
        'state-store.call': () => call,
        'state-store.runs': page({ runId, principal: 'user:alice' }, runId),
        'state-store.callsPage': page({ ...call, result: { sanitized: 1 } }, callId),
        'policy.approvals': page({ approvalId }, approvalId),
        'policy.approval': () => approval,
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    asked = [];
    run = { runId, tenant: 'dev', principal: 'user:alice', status: 'running' };
    approval = { approvalId, tenant: 'dev', runId, callId, status: 'pending', digest, approverRoles: [] };
  });
  const get = (url: string, headers = {}, as = 'dev.dev.alice.agent+approver') =>
    gateway.request('GET', url, { headers, as });

  it.each([
    [
      '/v1/runs',
      'status=completed&agent=clerk&label=team:a&label=x:y:z',
      { status: 'completed', agent: 'clerk', labels: { team: 'a', x: 'y:z' } },
      runId,
    ],
    [
      '/v1/calls',
      `runId=${runId}&status=asked&tool=desk.create_ticket`,
      { runId, status: 'asked', tool: 'desk.create_ticket' },
      callId,
    ],
    ['/v1/approvals', 'status=pending', { status: 'pending' }, approvalId],
  ])(
    '%s passes its filters on, and its cursor goes on with the same ones alone',
    async (url, filters, passed, position) => {
      const first = await get(`${url}?${filters}&limit=1`);
      expect(asked).toEqual([expect.objectContaining({ ...passed, tenant: 'dev', limit: 1 })]);
      const { next } = first.body;
      expect(next).not.toContain(position);
      await get(`${url}?${filters}&limit=7&after=${next}`);
      expect(asked[1]).toMatchObject({ ...passed, limit: 7, after: position });
      for (const wrong of [
        `${url}?after=${next}`,
        `/v1/${url === '/v1/runs' ? 'calls' : 'runs'}?after=${next}`,
        `${url}?after=abc`,
        `${url}?after=`,
        `${url}?after=!`,
      ])
        expect([wrong, await get(wrong)]).toMatchObject([
          wrong,
          { status: 400, body: { details: [{ path: '/after' }] } },
        ]);
      expect(asked).toHaveLength(2);
    },
  );

  it('calls are listed without results, and only the own ones to an agent', async () => {
    const { body } = await get('/v1/calls');
    expect(body.items[0]).not.toHaveProperty('result');
    expect(asked).toEqual([{ tenant: 'dev', limit: 50, principal: 'user:alice' }]);
    await get('/v1/calls', {}, 'dev.dev.olga.tenant-admin');
    expect(asked[1]).toEqual({ tenant: 'dev', limit: 50 });
  });

  it.each([
    '/v1/runs?limit=0',
    '/v1/runs?limit=x',
    '/v1/runs?limit=201',
    '/v1/runs?limit=1&limit=2',
    '/v1/runs?status=done',
    '/v1/runs?label=team',
    '/v1/calls?tool=Nope',
    '/v1/calls?runId=7',
    '/v1/calls?status=open',
    '/v1/approvals?status=open',
  ])('%s is refused at its place', async (url) => {
    const name = /\?(\w+)=/.exec(url)![1];
    expect(await get(url)).toMatchObject({
      status: 400,
      body: { details: [{ path: expect.stringMatching(new RegExp(`^/${name}`)) }] },
    });
    expect(asked).toEqual([]);
  });

  it.each([
    `/v1/runs/${runId}`,
    `/v1/calls/${callId}`,
    `/v1/approvals/${approvalId}`,
    '/v1/tools',
    '/v1/tools/desk.create_ticket',
  ])('%s has an ETag that stays while it is the same: 304 to who has it', async (url) => {
    const first = await get(url);
    const { etag } = first.headers as { etag: string };
    expect(first).toMatchObject({ status: 200, headers: { etag: expect.stringMatching(/^"[\w-]{27}"$/) } });
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await get(url, { 'if-none-match': known });
      expect([known, again]).toMatchObject([known, { status: 304, body: null, headers: { etag } }]);
    }
    expect((await get(url, { 'if-none-match': '"x"' })).status).toBe(200);
    expect(await get(url, { 'if-none-match': 'x' })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'header:If-None-Match' }] },
    });
  });

  it('a changed document has another ETag', async () => {
    const before = await get(`/v1/runs/${runId}`);
    run = { ...run, status: 'completed' };
    const after = await get(`/v1/runs/${runId}`, { 'if-none-match': before.headers.etag });
    expect(after).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('a decision on an approval that was looked at before it changed is refused, with the approval as it is', async () => {
    const { headers } = await get(`/v1/approvals/${approvalId}`);
    approval = { ...approval, digest: `sha256:${'c'.repeat(64)}` };
    const before = gateway.service.published.length;
    const answer = await gateway.request('POST', `/v1/approvals/${approvalId}/decision`, {
      as: 'dev.dev.bob.approver',
      headers: { 'if-match': String(headers.etag) },
      body: { decision: 'approved', digest },
    });
    expect(answer).toMatchObject({
      status: 412,
      body: { code: 'APPROVAL_MISMATCH', approval: { approvalId, digest: approval.digest } },
    });
    expect(answer.body.approval).not.toHaveProperty('tenant');
    expect(gateway.service.published.length).toBe(before);
  });

  it('a tool is shown by name, with its contract but how and where it runs', async () => {
    const { body } = await get('/v1/tools/desk.create_ticket');
    expect(body).toMatchObject({
      tool: 'desk.create_ticket',
      version: '1.0.0',
      digest: expect.stringMatching(/^sha256:/),
      live: true,
      contract: { layer: 'write', idempotency: { mode: 'key' } },
    });
    expect(JSON.stringify(body)).not.toContain('DESK_URL');
    expect((await get('/v1/tools/desk.create_ticket@1.0.0')).body).toEqual(body);
    for (const name of ['desk.none', 'desk.create_ticket@2.0.0', 'x', '%20'])
      expect((await get(`/v1/tools/${name}`)).status).toBe(404);
    expect((await get('/v1/tools/desk.create_ticket', {}, 'dev.other.alice.agent')).status).toBe(404);
  });
});
