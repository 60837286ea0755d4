import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

describe('what a tenant has used of its limits', () => {
  let gateway: HttpGateway;
  const limit = { period: 'day', name: '2026-11-30', limit: 'tokens', used: 5, most: 9, left: 4, renewsAt: 'z' };
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'orchestrator.usage': ({ tenant }: { tenant: string }) => ({ limits: tenant === 'acme' ? [limit] : [] }),
      },
    });
  });
  afterAll(() => gateway.close());

  it('is shown to those who run or audit it, of the own tenant alone (G8, G12)', async () => {
    const ask = (as: string, path = '/v1/usage') => gateway.request('GET', path, { as });
    for (const role of ['tenant-admin', 'auditor', 'operator'])
      expect(await ask(`dev.acme.ann.${role}`)).toMatchObject({ status: 200, body: { limits: [limit] } });
    expect(await ask('dev.other.ann.auditor')).toMatchObject({ status: 200, body: { limits: [] } });
    expect(await ask('dev.acme.bob.agent')).toMatchObject({ status: 403 });
    expect(await ask('dev.other.ann.auditor', '/v1/usage?tenant=acme')).toMatchObject({ status: 400 });
  });
});
