import { z } from 'zod';
import { CountersignError, InfrastructureError } from '#kernel';
import { resolveSettings } from '../settings.ts';
import { platformSettings } from '../platform.settings.ts';
import { startInternalServer, type InternalServer } from './internal-server.ts';
import { ServiceReads } from './reads.ts';

const TOKEN = 'a-token-of-16-chars';

describe('read ports', () => {
  let server: InternalServer;
  let local: ServiceReads;
  let remote: ServiceReads;
  let reasons: string[] = [];
  beforeAll(async () => {
    local = new ServiceReads(resolveSettings(platformSettings, {}));
    local.register('policy', {
      approval: ({ id }: { id: string }) => Promise.resolve(id === 'none' ? undefined : { id, at: new Date(0) }),
      shaped: async (args: unknown) => z.object({ after: z.int() }).parse(args),
      broken: () => Promise.reject(new InfrastructureError('away')),
    });
    server = await startInternalServer({
      host: '127.0.0.1',
      port: 0,
      token: TOKEN,
      reads: local,
      notReady: () => reasons,
    });
    remote = new ServiceReads(
      resolveSettings(platformSettings, { COUNTERSIGN_POLICY_URL: server.url, COUNTERSIGN_INTERNAL_TOKEN: TOKEN }),
    );
  });
  afterAll(() => server.close());

  it('answer the same over HTTP as in process, and null for what is not there', async () => {
    await expect(remote.read('policy', 'approval', { id: 'a' })).resolves.toEqual({
      id: 'a',
      at: '1970-01-01T00:00:00.000Z',
    });
    await expect(remote.read('policy', 'approval', { id: 'none' })).resolves.toBeNull();
  });
  it('a service that is away is an infrastructure fault, never an empty answer (G13)', async () => {
    await expect(remote.read('policy', 'broken', {})).rejects.toBeInstanceOf(InfrastructureError);
    await expect(remote.read('telemetry', 'audit', {})).rejects.toThrow(/COUNTERSIGN_TELEMETRY_URL is not set/);
    const nowhere = new ServiceReads(
      resolveSettings(platformSettings, { COUNTERSIGN_POLICY_URL: 'http://127.0.0.1:1' }),
    );
    await expect(nowhere.read('policy', 'approval', {})).rejects.toBeInstanceOf(InfrastructureError);
  });
  it('a question of the wrong shape is refused with its place, in process and over HTTP', async () => {
    for (const reads of [local, remote]) {
      await expect(reads.read('policy', 'shaped', { after: 'x' })).rejects.toMatchObject({
        code: 'INVALID_ARGS',
        details: [{ path: '/after', rule: 'invalid_type' }],
      });
    }
  });
  it('nobody without the token is answered', async () => {
    for (const authorization of [undefined, 'Bearer wrong-token-of-16']) {
      const response = await fetch(`${server.url}/reads/policy/approval`, {
        method: 'POST',
        body: '{}',
        headers: authorization ? { authorization } : {},
      });
      expect(response.status).toBe(401);
    }
  });
  it('an unknown question or a body that is no object is refused', async () => {
    await expect(remote.read('policy', 'constructor', {})).rejects.toBeInstanceOf(CountersignError);
    const response = await fetch(`${server.url}/reads/policy/approval`, {
      method: 'POST',
      body: '[1]',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(response.status).toBe(400);
  });
  it('readiness says why it is not ready', async () => {
    reasons = ['draining'];
    const response = await fetch(`${server.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([503, { status: 'not_ready', reasons: ['draining'] }]);
    reasons = [];
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
  it('a busy port is named, with the remedy', async () => {
    const port = Number(new URL(server.url).port);
    await expect(
      startInternalServer({ host: '127.0.0.1', port, token: TOKEN, reads: remote, notReady: () => [] }),
    ).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use by another process`);
  });
});
