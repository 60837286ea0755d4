import type http from 'node:http';
import {
  createRunner,
  UnreadableResult,
  type DefinedTool,
  type RunOutcome,
  type RunRequest,
  type Runner,
} from '#tools';
import { json, openHttpToolServer, type HttpToolServer } from '../../testing/http-tool-server.ts';
import { sampleRead, sampleWrite } from '../../testing/sample-contract.ts';
import { SAMPLE_CALL, sampleRequest } from '../../testing/sample-request.ts';

describe('the HTTP runner', () => {
  let server: HttpToolServer;
  let runner: Runner;
  beforeAll(async () => {
    server = await openHttpToolServer();
    runner = createRunner({
      env: { TOOL_URL: server.url, TOKEN: 'tok-5f3a9c' },
      secrets: ['tok-5f3a9c'],
      capBytes: 10_000,
      now: () => Date.parse('2026-01-01T00:00:00Z'),
    });
  });
  afterAll(async () => {
    runner.close();
    await server.close();
  });
  beforeEach(() => {
    server.seen.length = 0;
    server.answer = (_request, response) => json(response, 200, { ok: true });
  });

  const url = '${TOOL_URL}/things';
  const read = (changes: object = {}): DefinedTool =>
    sampleRead({ execution: { kind: 'http', method: 'GET', url }, ...changes });
  const write = (changes: object = {}): DefinedTool =>
    sampleWrite({ execution: { kind: 'http', method: 'POST', url }, ...changes });
  const run = (tool: DefinedTool, changes: Partial<RunRequest> = {}): Promise<RunOutcome> =>
    runner.run(sampleRequest(tool, changes));

  describe('a write that was judged by facts', () => {
    const judged = (changes: object = {}) =>
      write({
        facts: {
          tool: 'things.look',
          arguments: {},
          values: { resourceVersion: '/version' },
          versionPlace: { header: 'If-Match' },
        },
        ...changes,
      });

    it('carries the version of the resource; 412 says that it has changed and nothing happened', async () => {
      server.answer = (_request, response) => json(response, 412, {});
      const outcome = await run(judged(), { version: '"v1"' });
      expect(server.seen[0]!.headers['if-match']).toBe('"v1"');
      expect(outcome).toMatchObject({
        kind: 'failed',
        noEffect: true,
        error: { code: 'APPROVAL_MISMATCH', retryable: false },
      });
    });

    it('without facts in its contract a 412 is what the contract says of it', async () => {
      server.answer = (_request, response) => json(response, 412, {});
      expect(await run(write())).toMatchObject({ kind: 'failed', error: { code: 'UPSTREAM_ERROR' } });
    });

    it('an argument carries it where the contract says so', async () => {
      await run(judged({ facts: { ...judged().contract.facts, versionPlace: { argument: 'version' } } }), {
        arguments: { n: 1 },
        version: 'v1',
      });
      expect(server.seen[0]!.body).toBe('{"n":1,"version":"v1"}');
    });
  });

  describe('what goes out', () => {
    it('puts arguments into path, query and body as the contract says, percent-encoded', async () => {
      const execution = {
        kind: 'http',
        method: 'PUT',
        url: '${TOOL_URL}/v1/{team}/things/{id}',
        query: ['dry'],
        headers: { Authorization: 'Bearer ${TOKEN}' },
      } as const;
      await run(write({ execution }), { arguments: { team: 'a b', id: '../x?y', dry: true, n: 1, list: ['ü'] } });
      expect(server.seen[0]).toMatchObject({
        method: 'PUT',
        url: '/v1/a%20b/things/..%2Fx%3Fy?dry=true',
        body: '{"n":1,"list":["ü"]}',
      });
      expect(server.seen[0]!.headers).toMatchObject({
        authorization: 'Bearer tok-5f3a9c',
        'content-type': 'application/json',
        'countersign-call-id': SAMPLE_CALL,
      });
    });

    it('a read sends all that the path does not use as its query', async () => {
      await run(read(), { arguments: { service: 'api', tags: ['a', 'b'], n: 3 } });
      expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/things?service=api&tags=a&tags=b&n=3', body: '' });
    });

    it.each(['..', '.', '', null])(
      'an argument cannot change the path: %p is refused before anything is sent',
      async (id) => {
        const outcome = await run(
          read({ execution: { kind: 'http', method: 'GET', url: '${TOOL_URL}/things/{id}' } }),
          { arguments: { id } },
        );
        expect(outcome).toMatchObject({
          kind: 'failed',
          sent: 'not_sent',
          noEffect: true,
          error: { code: 'INVALID_ARGS' },
        });
        expect(server.seen).toEqual([]);
      },
    );

    it('the operation key goes where the contract says, the same on every attempt (G7), and the fence beside it (G6)', async () => {
      const inHeader = write({
        idempotency: { mode: 'key', template: '{task}', place: { header: 'Idempotency-Key' } },
      });
      const inArgument = write({ idempotency: { mode: 'key', template: '{task}', place: { argument: 'request_id' } } });
      await run(inHeader, { attempt: 1, fence: { 'ticket:1': 4 } });
      await run(inHeader, { attempt: 2 });
      await run(inHeader, { operationKey: 'dev/user:älice/50% x' });
      await run(inArgument);
      expect(server.seen.map((seen) => seen.headers['idempotency-key'])).toEqual([
        'dev/user:alice/sample',
        'dev/user:alice/sample',
        'dev%2Fuser%3A%C3%A4lice%2F50%25%20x',
        undefined,
      ]);
      expect(server.seen[0]!.headers['countersign-fence']).toBe('ticket%3A1=4');
      expect(JSON.parse(server.seen[3]!.body)).toEqual({ request_id: 'dev/user:alice/sample' });
    });

    it('the fence of a fenced contract is one number, where the contract says (G6)', async () => {
      await run(write({ fence: { header: 'X-Fence' } }), { fence: { 'ticket:1': 4 } });
      await run(write({ fence: { argument: 'fence' } }), { fence: { 'ticket:1': 5 } });
      expect(server.seen[0]!.headers['x-fence']).toBe('4');
      expect(JSON.parse(server.seen[1]!.body)).toMatchObject({ fence: 5 });
    });

    it('a setting that the pool does not allow is not read from the environment', async () => {
      const outcome = await run(
        read({ execution: { kind: 'http', method: 'GET', url: 'http://x/', headers: { x: '${PATH}' } } }),
      );
      expect(outcome).toMatchObject({
        sent: 'not_sent',
        error: { code: 'UPSTREAM_UNAVAILABLE', message: expect.stringContaining('PATH') },
      });
    });

    it('asks once just before sending; what that throws stops the attempt', async () => {
      let asked = 0;
      await run(write(), { onSending: () => void asked++ });
      expect(asked).toBe(1);
      const outcome = await run(write(), {
        onSending: () => {
          throw new Error('the lease is over');
        },
      });
      expect(outcome).toMatchObject({
        kind: 'failed',
        sent: 'not_sent',
        noEffect: true,
        error: { message: 'the lease is over' },
      });
      expect(server.seen).toHaveLength(1);
    });
  });

  describe('an answer', () => {
    it('of 2xx with strict JSON is the value, its bytes are the raw form', async () => {
      expect(await run(write())).toEqual({ kind: 'answered', value: { ok: true }, raw: Buffer.from('{"ok":true}') });
    });

    it('without a body is null', async () => {
      server.answer = (_request, response) => response.writeHead(204).end();
      expect(await run(write())).toMatchObject({ kind: 'answered', value: null });
    });

    it.each([
      ['another content type', 'text/html', '<p>', 'INVALID_RESULT'],
      ['no JSON', 'application/json', '{"a":', 'INVALID_RESULT'],
      ['a key twice', 'application/json', '{"a":1,"a":2}', 'INVALID_RESULT'],
      ['broken UTF-8', 'application/json', Buffer.from([0x22, 0xff, 0x22]), 'INVALID_RESULT'],
      ['more than the cap', 'application/json', JSON.stringify('x'.repeat(20_000)), 'RESULT_TOO_LARGE'],
    ])(
      'of 2xx with %s stays a success whose reply cannot be read: it must not provoke a repeat',
      async (_title, type, body, code) => {
        server.answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end(body);
        const outcome = await run(write());
        expect(outcome).toMatchObject({ kind: 'answered', value: { code } });
        expect((outcome as { value: unknown }).value).toBeInstanceOf(UnreadableResult);
        expect((outcome as { raw: Buffer }).raw.length).toBeLessThanOrEqual(10_000);
      },
    );

    it('keeps the digits of large integers and drops keys that reach a prototype', async () => {
      server.answer = (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"n":9223372036854775807,"__proto__":{"x":1},"ok":1.5}');
      expect(await run(read())).toMatchObject({ value: { n: '9223372036854775807', ok: 1.5 } });
      expect(({} as { x?: number }).x).toBeUndefined();
    });

    it('that redirects is not followed; after a write it proves nothing', async () => {
      server.answer = (_request, response) => response.writeHead(302, { location: `${server.url}/elsewhere` }).end();
      expect(await run(write())).toMatchObject({ sent: 'maybe_sent', error: { code: 'OUTCOME_UNKNOWN' } });
      expect(await run(read())).toMatchObject({ sent: 'answered', noEffect: true, error: { code: 'UPSTREAM_ERROR' } });
      expect(server.seen.map((seen) => seen.url)).toEqual(['/things', '/things']);
    });

    it.each([408, 409, 425, 429, 500, 502, 503, 504])(
      '%i to a write means "maybe applied" unless the contract says otherwise (G5)',
      async (status) => {
        server.answer = (_request, response) => json(response, status, { message: 'no' });
        expect(await run(write())).toMatchObject({
          kind: 'failed',
          sent: 'maybe_sent',
          noEffect: false,
          error: { code: 'OUTCOME_UNKNOWN', retryable: false, humanTakeover: true },
        });
        const errors = [{ when: status, code: 'UPSTREAM_ERROR', meaning: 'Refused.', noEffect: true, retryable: true }];
        expect(await run(write({ errors }))).toMatchObject({
          sent: 'answered',
          noEffect: true,
          error: { code: 'UPSTREAM_ERROR', message: 'Refused.: no', retryable: true },
        });
        expect(await run(read())).toMatchObject({ sent: 'answered', noEffect: true });
      },
    );

    it.each([
      [400, 'TOOL_ERROR'],
      [401, 'UPSTREAM_ERROR'],
      [403, 'UPSTREAM_ERROR'],
      [404, 'NOT_FOUND'],
      [410, 'NOT_FOUND'],
      [422, 'TOOL_ERROR'],
    ])('%i proves that nothing was done', async (status, code) => {
      server.answer = (_request, response) => json(response, status, {});
      expect(await run(write())).toMatchObject({ sent: 'answered', noEffect: true, error: { code, retryable: false } });
    });

    it('is mapped by the code in its body before its status', async () => {
      const errors = [
        { when: 'E_CLOSED', code: 'TOOL_ERROR', meaning: 'The service is closed.', userAction: true },
        { when: 422, code: 'NOT_FOUND', meaning: 'Gone.' },
      ];
      server.answer = (_request, response) =>
        json(response, 422, { error: { code: 'E_CLOSED', message: 'closed until 9' } });
      expect(await run(write({ errors }))).toMatchObject({
        noEffect: true,
        error: { code: 'TOOL_ERROR', message: 'The service is closed.: closed until 9', userActionRequired: true },
      });
    });

    it.each([
      ['7', 7000],
      ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
      ['soon', null],
      ['999999', 3_600_000],
    ])('Retry-After %p is kept', async (header, ms) => {
      server.answer = (_request, response) => json(response, 429, {}, { 'retry-after': header });
      expect(await run(read())).toMatchObject({ error: { code: 'RATE_LIMITED', retryable: true, retryAfterMs: ms } });
    });

    it('gives no secret, no trace and no endless text into its error', async () => {
      server.answer = (_request, response) =>
        json(response, 500, {
          message: `bad tok-5f3a9c ${'x'.repeat(5000)}\n    at Object.<anonymous> (/srv/app.js:1:1)`,
        });
      const { error } = (await run(read())) as Extract<RunOutcome, { kind: 'failed' }>;
      expect(error.message).toMatch(/^the tool answered 500: bad \[redacted: secret\] x+… \[\d+ bytes left out\] …/);
      expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(1024);
    });
  });

  it('keeps connections', async () => {
    const ports = new Set<number>();
    server.answer = (_request, response) => {
      ports.add((response.req as http.IncomingMessage).socket.remotePort!);
      json(response, 200, {});
    };
    for (let i = 0; i < 5; i++) await run(read());
    expect(ports.size).toBe(1);
  });
});
