import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { readApiKeys, type ApiKey } from '../adapters/api-keys.ts';
import { Access, checkAccessSettings } from './access.ts';

const key = 'csk_0123456789';
const keySha256 = createHash('sha256').update(key).digest('hex');
const request = (authorization: string | undefined, host = '127.0.0.1:8080') => ({ headers: { host, authorization } });

describe('who asks comes from the credential alone (G12)', () => {
  const caller = { tenant: 'acme', principal: { id: 'service:ci', kind: 'service' as const, roles: ['agent'] } };
  const keys = new Map([[keySha256, { caller, expiresAt: null, revoked: false }]]);
  const ring = (known: ReadonlyMap<string, ApiKey>) => ({ find: (hash: string) => known.get(hash) });

  it('a key is known by its hash', () => {
    const access = new Access({ dev: false, keys: ring(keys) });
    expect(access.require(request(`Bearer ${key}`, 'api.acme.test'), 'agent')).toMatchObject({
      tenant: 'acme',
      principal: { id: 'service:ci' },
    });
    expect(() => access.require(request(`Bearer ${key}`), 'approver')).toThrow(
      expect.objectContaining({ status: 403 }),
    );
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic x',
    `Bearer ${key}x`,
    `Bearer ${keySha256}`,
    'Bearer dev.dev.alice.agent',
  ])('outside development %p is nobody', (authorization) => {
    const access = new Access({ dev: false, keys: ring(keys) });
    expect(() => access.identify(request(authorization))).toThrow(expect.objectContaining({ status: 401 }));
  });

  it('a key that has expired or was revoked is nobody, and is told why', () => {
    const asked = (change: Partial<ApiKey>) => () =>
      new Access({
        dev: false,
        keys: { find: () => ({ caller, expiresAt: null, revoked: false, ...change }) },
        now: () => 1_000,
      }).identify(request(`Bearer ${key}`));
    expect(asked({ expiresAt: 1_001 })).not.toThrow();
    expect(asked({ expiresAt: 1_000 })).toThrow(
      expect.objectContaining({ status: 401, message: expect.stringContaining('has expired (1970-01-01T00:00:01') }),
    );
    expect(asked({ revoked: true })).toThrow(
      expect.objectContaining({ status: 401, message: expect.stringContaining('revoked') }),
    );
  });

  it('a key does what its scope names, by method and address', () => {
    const scope = { verbs: ['read', 'approve'] as const };
    const access = new Access({
      dev: false,
      keys: { find: () => ({ caller: { ...caller, scope }, expiresAt: null, revoked: false }) },
    });
    const ask = (method: string, url: string) => () => access.identify({ ...request(`Bearer ${key}`), method, url });
    expect(ask('GET', '/v1/runs')).not.toThrow();
    expect(ask('POST', '/v1/approvals/a/decision')).not.toThrow();
    for (const url of ['/v1/calls', '/v1/runs/x/cancel', '/v1/runs?/v1/approvals/'])
      expect(ask('POST', url)).toThrow(expect.objectContaining({ status: 403 }));
  });

  it('in development the credential says tenant, person and roles; keys count too', () => {
    const access = new Access({ dev: true, keys: ring(keys) });
    const bob = { tenant: 'acme', principal: { id: 'user:bob', kind: 'user', roles: ['approver', 'operator'] } };
    expect(access.identify(request('Bearer dev.acme.bob.approver+operator'))).toEqual(bob);
    expect(access.identify(request('bearer dev.acme.bob.approver+operator', '[::1]:8080'))).toEqual(bob);
    expect(access.identify(request(`Bearer ${key}`, 'localhost')).tenant).toBe('acme');
  });

  it.each(['evil.test', 'localhost.evil.test', '10.0.0.1', '127.0.0.1.evil.test:80', ''])(
    'in development the host %p is refused',
    (host) => {
      const access = new Access({ dev: true, keys: ring(new Map()) });
      expect(() => access.identify(request('Bearer dev.acme.bob.agent', host))).toThrow(
        expect.objectContaining({ status: 421 }),
      );
    },
  );
});

describe('the start is refused (G13)', () => {
  it('in development beyond loopback, with the remedy', () => {
    expect(() => checkAccessSettings(true, '0.0.0.0', false)).toThrow(/COUNTERSIGN_HTTP_HOST=127\.0\.0\.1/);
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(() => checkAccessSettings(true, host, false)).not.toThrow();
  });

  it('outside development without keys', () => {
    expect(() => checkAccessSettings(false, '0.0.0.0', false)).toThrow(/COUNTERSIGN_API_KEYS_FILE/);
  });

  describe('with a key file that is', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'));
    });
    afterAll(() => rm(folder, { recursive: true }));
    const read = async (text: string) => {
      const file = path.join(folder, 'keys.yaml');
      await writeFile(file, text);
      return readApiKeys(file);
    };
    const entry = `{ keySha256: ${keySha256}, tenant: acme, principal: 'service:ci', roles: [agent] }`;

    it.each([
      ['not YAML', '[', /not YAML/],
      ['empty', '', /must be a list/],
      ['no list', 'a: 1', /must be a list/],
      [
        'faulty in two places',
        `- ${entry}\n- { keySha256: abc, tenant: Acme, principal: x, roles: [a], key: y }`,
        /\/1\/keySha256.*\n.*\/1\/tenant/,
      ],
      [
        'faulty in what a key is narrowed to',
        `- { ${entry.slice(2, -2)}, scopes: { verbs: [write], tools: ['a b'] }, expiresAt: tomorrow }`,
        /\/0\/scopes\/verbs\/0[^]*\/0\/scopes\/tools\/0[^]*\/0\/expiresAt/,
      ],
      ['twice the same key', `- ${entry}\n- ${entry}`, /\/1\/keySha256: the same key/],
    ])('%s', async (_name, text, fault) => {
      await expect(read(text)).rejects.toThrow(fault);
    });

    it('not there', async () => {
      await expect(readApiKeys(path.join(folder, 'none.yaml'))).rejects.toThrow(/ENOENT/);
    });

    it('but not by one that is right', async () => {
      expect([...(await read(`- ${entry}`)).values()]).toEqual([
        {
          caller: { tenant: 'acme', principal: { id: 'service:ci', kind: 'service', roles: ['agent'] } },
          expiresAt: null,
          revoked: false,
        },
      ]);
    });
  });
});
