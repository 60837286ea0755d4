import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

describe('what an auditor asks beside the records', () => {
  let gateway: HttpGateway;
  const asked: unknown[] = [];
  const checkpoint = {
    tenant: 'acme',
    size: 7,
    ledgers: [{ ledger: 'acme/0', size: 7, head: 'sha256:0', root: 'sha256:0' }],
    kid: 'k',
    time: '2026-01-01T00:00:00.000Z',
    jws: 'a.b.c',
  };
  const proof = { kind: 'inclusion', ledger: 'acme/0', size: 7, path: [], checkpoint: 'a.b.c' };
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'x', kid: 'k' };
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'telemetry.checkpoints': (args: never) => {
          asked.push(args);
          return { items: [checkpoint], next: null };
        },
        'telemetry.keys': () => ({ keys: [jwk] }),
        'telemetry.schemas': () => ({ schemas: { 'dev.countersign.run.ended.v1': { type: 'object' } } }),
        'telemetry.proof': (args: { ledger?: string; tenant: string }) => {
          asked.push(args);
          return args.ledger?.startsWith('other/') ? null : proof;
        },
      },
    });
  });
  afterAll(() => gateway.close());

  it("signed heads of the own tenant's ledger, page by page, and the keys that may sign them (G11, G12)", async () => {
    const as = 'dev.acme.ann.auditor';
    const checkpoints = await gateway.request('GET', '/v1/audit/checkpoints?after=3&limit=9', { as });
    expect(checkpoints).toMatchObject({ status: 200, body: { items: [checkpoint], next: null } });
    expect(asked).toEqual([{ tenant: 'acme', after: '3', limit: 9 }]);
    expect(await gateway.request('GET', '/v1/audit/keys', { as })).toMatchObject({
      status: 200,
      body: { keys: [jwk] },
    });
  });

  it('a proof of one thing of the own tenant; what is not there is not found (G11, G12)', async () => {
    const as = 'dev.acme.ann.auditor';
    const prove = (query: string) => gateway.request('GET', `/v1/audit/proof?${query}`, { as });
    const callId = `call_${'0'.repeat(26)}_0001`;
    expect(await prove(`callId=${callId}`)).toMatchObject({ status: 200, body: proof });
    expect(asked.at(-1)).toEqual({ tenant: 'acme', callId });
    expect(await prove('ledger=other/0&from=1')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    for (const wrong of ['', 'ledger=acme/0', 'from=3', `callId=${callId}&eventId=evt_${'0'.repeat(26)}`, 'callId=x'])
      expect(await prove(wrong)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGS' } });
    expect(await gateway.request('GET', '/v1/audit/schemas', { as })).toMatchObject({ status: 200 });
  });

  it('for operators and auditors alone; a wrong query is told where', async () => {
    for (const route of ['checkpoints', 'keys', 'proof', 'schemas']) {
      const url = `/v1/audit/${route}`;
      expect((await gateway.request('GET', url, { as: null })).status).toBe(401);
      expect((await gateway.request('GET', url)).status).toBe(403);
      const wrong = await gateway.request('GET', `${url}?tenant=other`, { as: 'dev.acme.ann.auditor' });
      expect(wrong).toMatchObject({ status: 400, body: { code: 'INVALID_ARGS' } });
    }
  });
});
