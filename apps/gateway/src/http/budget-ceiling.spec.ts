import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

const runId = `run_${'4'.repeat(26)}`;

describe('a ceiling on the budgets of runs (G8)', () => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    gateway = await openGateway({
      env: { COUNTERSIGN_MAX_BUDGETS: '{"maxCalls":10,"maxTurns":3}' },
      reads: {
        'state-store.run': () => ({ tenant: 'dev', runId, principal: 'user:alice', status: 'budget_exhausted' }),
      },
    });
  });
  afterAll(() => gateway.close());

  it.each([
    ['a start', '/v1/runs', { driver: 'client', budgets: { maxCalls: 11 } }],
    ['a resume', `/v1/runs/${runId}/resume`, { budgets: { maxCalls: 11 } }],
  ])('%s that asks for more is refused, naming the limit, and nothing is sent', async (_what, path, body) => {
    const before = gateway.service.published.length;
    expect(await gateway.request('POST', path, { body })).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_ARGS',
        detail: expect.stringContaining('maxCalls 11 (at most 10)'),
        details: [{ path: '/budgets/maxCalls', rule: 'ceiling', allowed: [10] }],
      },
    });
    expect(gateway.service.published.length).toBe(before);
  });

  it("defaults and an agent's own limits are clipped", async () => {
    await gateway.request('POST', '/v1/runs', { body: { agent: 'clerk', input: 'go' } });
    expect((await gateway.published('StartRun')).data.budgets).toMatchObject({
      maxCalls: 10,
      maxTurns: 3,
      maxParallel: 8,
    });
  });
});
