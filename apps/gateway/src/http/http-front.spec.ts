import { openGateway, type HttpGateway, type RequestOptions } from '../../testing/http-gateway.ts';

const call = { tool: 'desk.create_ticket', arguments: { summary: 'x' } };
const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

type Case = [
  name: string,
  status: number,
  code: string,
  detail: object | null,
  method: string,
  url: string,
  options?: RequestOptions,
];

describe('bad input gets one clear answer that names the place', () => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    gateway = await openGateway({ reads: { 'state-store.runs': () => [] } });
  });
  afterAll(() => gateway.close());

  it.each<Case>([
    ['no credential', 401, 'PERMISSION_DENIED', null, 'POST', '/v1/calls', { as: null, body: call }],
    [
      'a credential of another form',
      401,
      'PERMISSION_DENIED',
      null,
      'POST',
      '/v1/calls',
      { as: 'dev.dev', body: call },
    ],
    [
      'a tenant that is none',
      401,
      'PERMISSION_DENIED',
      null,
      'POST',
      '/v1/calls',
      { as: 'dev.De v.a.agent', body: call },
    ],
    [
      'another scheme',
      401,
      'PERMISSION_DENIED',
      null,
      'GET',
      '/v1/runs',
      { as: null, headers: { authorization: 'Basic eDp5' } },
    ],
    ['the wrong role', 403, 'PERMISSION_DENIED', null, 'POST', '/v1/calls', { as: 'dev.dev.bob.approver', body: call }],
    [
      'a rebound host name',
      421,
      'PERMISSION_DENIED',
      null,
      'POST',
      '/v1/calls',
      { headers: { host: 'evil.test:8080' }, body: call },
    ],

    ['no JSON', 400, 'INVALID_JSON', { rule: 'syntax' }, 'POST', '/v1/calls', { body: '{"tool":' }],
    [
      'an empty body',
      400,
      'INVALID_JSON',
      { rule: 'syntax' },
      'POST',
      '/v1/calls',
      { headers: { 'content-type': 'application/json' } },
    ],
    [
      'a duplicate key',
      400,
      'INVALID_JSON',
      { rule: 'duplicateKey', path: '/arguments/a' },
      'POST',
      '/v1/calls',
      { body: '{"tool":"a.b","arguments":{"a":1,"a":2}}' },
    ],
    [
      'bytes that are not UTF-8',
      400,
      'INVALID_JSON',
      { rule: 'utf8' },
      'POST',
      '/v1/calls',
      { body: Buffer.from([0x22, 0xff, 0x22]) },
    ],
    [
      'a prototype key',
      400,
      'INVALID_JSON',
      { rule: 'forbiddenKey' },
      'POST',
      '/v1/calls',
      { body: '{"__proto__":{}}' },
    ],
    [
      'an integer beyond 2^53',
      400,
      'INVALID_JSON',
      { rule: 'numberRange', path: '/n' },
      'POST',
      '/v1/calls',
      { body: '{"n":9007199254740993}' },
    ],
    [
      'half a surrogate pair',
      400,
      'INVALID_JSON',
      { rule: 'surrogate', path: '/tool' },
      'POST',
      '/v1/calls',
      { body: '{"tool":"\\ud800"}' },
    ],
    ['too deep', 400, 'INVALID_JSON', { rule: 'maxDepth' }, 'POST', '/v1/calls', { body: nested(100) }],
    ['too large', 413, 'INVALID_JSON', null, 'POST', '/v1/calls', { body: { ...call, pad: 'x'.repeat(400_000) } }],
    [
      'another media type',
      415,
      'INVALID_JSON',
      null,
      'POST',
      '/v1/calls',
      { body: 'a=b', headers: { 'content-type': 'text/plain' } },
    ],
    ['no object', 400, 'INVALID_ARGS', { path: '', rule: 'invalid_type' }, 'POST', '/v1/calls', { body: '[]' }],
    ['a missing field', 400, 'INVALID_ARGS', { path: '/arguments' }, 'POST', '/v1/calls', { body: { tool: 'a.b' } }],
    [
      'an unknown field',
      400,
      'INVALID_ARGS',
      { path: '/tenant', rule: 'unknownField' },
      'POST',
      '/v1/calls',
      { body: { ...call, tenant: 'other' } },
    ],
    [
      'arguments of another type',
      400,
      'INVALID_ARGS',
      { path: '/arguments' },
      'POST',
      '/v1/calls',
      { body: { ...call, arguments: 7 } },
    ],
    [
      'an array as arguments',
      400,
      'INVALID_ARGS',
      { path: '/arguments' },
      'POST',
      '/v1/calls',
      { body: { ...call, arguments: [] } },
    ],
    [
      'an empty task',
      400,
      'INVALID_ARGS',
      { path: '/taskId', rule: 'too_small' },
      'POST',
      '/v1/calls',
      { body: { ...call, taskId: '' } },
    ],
    [
      'an over-long key',
      400,
      'INVALID_ARGS',
      { path: 'header:Idempotency-Key' },
      'POST',
      '/v1/calls',
      { body: call, headers: { 'idempotency-key': 'k'.repeat(256) } },
    ],
    [
      'a key with a space',
      400,
      'INVALID_ARGS',
      { path: 'header:Idempotency-Key' },
      'POST',
      '/v1/calls',
      { body: call, headers: { 'idempotency-key': 'a b' } },
    ],
    [
      'a wait that is no number',
      400,
      'INVALID_ARGS',
      { path: 'header:Prefer', rule: 'wait' },
      'POST',
      '/v1/calls',
      { body: call, headers: { prefer: 'wait=soon' } },
    ],

    [
      'an unknown driver',
      400,
      'INVALID_ARGS',
      { path: '/driver' },
      'POST',
      '/v1/runs',
      { body: { driver: 'me', agent: 'clerk', input: 'x' } },
    ],
    [
      'an agent run without input',
      400,
      'INVALID_ARGS',
      { path: '/input' },
      'POST',
      '/v1/runs',
      { body: { agent: 'clerk' } },
    ],
    [
      'a client run with input',
      400,
      'INVALID_ARGS',
      { path: '/input', rule: 'unknownField' },
      'POST',
      '/v1/runs',
      { body: { driver: 'client', input: 'x' } },
    ],
    [
      'an unknown agent',
      404,
      'NOT_FOUND',
      { path: '/agent', allowed: ['clerk'] },
      'POST',
      '/v1/runs',
      { body: { agent: 'clark', input: 'x' } },
    ],
    [
      'an unknown tool of a toolset',
      400,
      'UNKNOWN_TOOL',
      { path: '/toolset/1' },
      'POST',
      '/v1/runs',
      { body: { driver: 'client', toolset: ['desk.create_ticket', 'desk.close'] } },
    ],
    [
      'a budget out of range',
      400,
      'INVALID_ARGS',
      { path: '/budgets/maxTurns' },
      'POST',
      '/v1/runs',
      { body: { agent: 'clerk', input: 'x', budgets: { maxTurns: 0 } } },
    ],
    [
      'no calls',
      400,
      'INVALID_ARGS',
      { path: '/calls' },
      'POST',
      `/v1/runs/run_${'0'.repeat(26)}/calls`,
      { body: { calls: [] } },
    ],
    ['an unknown query', 400, 'INVALID_ARGS', { path: '/limits', rule: 'unknownField' }, 'GET', '/v1/runs?limits=3'],
    ['a limit out of range', 400, 'INVALID_ARGS', { path: '/limit' }, 'GET', '/v1/runs?limit=0'],
    ['a status that is none', 400, 'INVALID_ARGS', { path: '/status' }, 'GET', '/v1/runs?status=lost'],

    ['an id of no run', 404, 'NOT_FOUND', null, 'GET', '/v1/runs/run_x'],
    ['a run that is not there', 404, 'NOT_FOUND', null, 'POST', `/v1/runs/run_${'0'.repeat(26)}/finish`, {}],
    ['a call that is not there', 404, 'NOT_FOUND', null, 'GET', `/v1/calls/call_${'0'.repeat(26)}_0001`],
    ['an unknown address', 404, 'NOT_FOUND', null, 'GET', '/v1/nothing'],
    ['a wrong method', 405, 'NOT_FOUND', null, 'DELETE', '/v1/runs'],
    ['an address that cannot be decoded', 400, 'INVALID_ARGS', null, 'GET', '/v1/runs/%'],
    ['an over-long id', 414, 'INVALID_ARGS', null, 'GET', `/v1/runs/${'x'.repeat(200)}`],
  ])('%s → %i %s', async (_name, status, code, detail, method, url, options = {}) => {
    const answer = await gateway.request(method, url, options);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({
      type: `urn:countersign:error:${code}`,
      status,
      code,
      title: expect.any(String),
      detail: expect.any(String),
    });
    expect(answer.body.requestId).toBe(answer.headers['x-request-id']);
    if (detail) expect(answer.body.details).toContainEqual(expect.objectContaining(detail));
    expect(gateway.service.published).toEqual([]);
  });

  it('all faults of a body are told at once', async () => {
    const body = { tool: '', argument: {}, taskId: 7 };
    const { details } = (await gateway.request('POST', '/v1/calls', { body })).body as { details: { path: string }[] };
    expect(details.map((detail) => detail.path).sort()).toEqual(['/argument', '/arguments', '/taskId', '/tool']);
  });

  it('says which methods there are, and how to authenticate', async () => {
    expect((await gateway.request('PUT', '/v1/calls')).headers.allow).toBe('GET, HEAD, POST');
    expect((await gateway.request('GET', '/v1/runs', { as: null })).headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('takes a well-formed x-request-id, and makes one instead of any other', async () => {
    expect(
      (await gateway.request('GET', '/version', { headers: { 'x-request-id': 'a-1' } })).headers['x-request-id'],
    ).toBe('a-1');
    expect(
      (await gateway.request('GET', '/version', { headers: { 'x-request-id': 'a 1\t{' } })).headers['x-request-id'],
    ).toMatch(/^req_/);
  });
});

describe('when something is away or wrong', () => {
  it('a service that is away is 503 with Retry-After, a fault of ours 500 without its text (G10)', async () => {
    const gateway = await openGateway({
      reads: {
        'telemetry.audit': () => {
          throw new Error('secret text');
        },
      },
    });
    try {
      const away = await gateway.request('GET', '/v1/runs');
      expect(away).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'INTERNAL' } });
      const fault = await gateway.request('GET', '/v1/audit', { as: 'dev.dev.ann.auditor' });
      expect(fault).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
      expect(JSON.stringify(fault.body)).not.toContain('secret');
    } finally {
      await gateway.close();
    }
  });

  it('more than may be in work are answered 429 with Retry-After, and the place is given back (G8)', async () => {
    const gateway = await openGateway({ env: { COUNTERSIGN_GATEWAY_MAX_IN_FLIGHT: '1' } });
    try {
      const waiting = gateway.request('POST', '/v1/calls', { body: call, headers: { prefer: 'wait=1' } });
      await gateway.published('StartRun');
      const refused = await gateway.request('POST', '/v1/calls', { body: call });
      expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, body: { code: 'RATE_LIMITED' } });
      expect((await waiting).status).toBe(202);
      expect((await gateway.request('POST', '/v1/calls', { body: call })).status).toBe(202);
    } finally {
      await gateway.close();
    }
  });
});
