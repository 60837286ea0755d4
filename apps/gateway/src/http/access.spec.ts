import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { readApiKeys } from '../adapters/api-keys.ts';
import { Access, checkAccessSettings } from './access.ts';

const key = 'csk_0123456789';
const keySha256 = createHash('sha256').update(key).digest('hex');
const request = (authorization: string | undefined, host = '127.0.0.1:8080') => ({ headers: { host, authorization } });

describe('who asks comes from the credential alone (G12)', () => {
  const keys = new Map([
    [keySha256, { tenant: 'acme', principal: { id: 'service:ci', kind: 'service' as const, roles: ['agent'] } }],
  ]);

  it('a key is known by its hash', () => {
    const access = new Access({ dev: false, keys });
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
    const access = new Access({ dev: false, keys });
    expect(() => access.identify(request(authorization))).toThrow(expect.objectContaining({ status: 401 }));
  });

  it('in development the credential says tenant, person and roles; keys count too', () => {
    const access = new Access({ dev: true, keys });
    const bob = { tenant: 'acme', principal: { id: 'user:bob', kind: 'user', roles: ['approver', 'operator'] } };
    expect(access.identify(request('Bearer dev.acme.bob.approver+operator'))).toEqual(bob);
    expect(access.identify(request('bearer dev.acme.bob.approver+operator', '[::1]:8080'))).toEqual(bob);
    expect(access.identify(request(`Bearer ${key}`, 'localhost')).tenant).toBe('acme');
  });

  it.each(['evil.test', 'localhost.evil.test', '10.0.0.1', '127.0.0.1.evil.test:80', ''])(
    'in development the host %p is refused',
    (host) => {
      const access = new Access({ dev: true, keys: new Map() });
      expect(() => access.identify(request('Bearer dev.acme.bob.agent', host))).toThrow(
        expect.objectContaining({ status: 421 }),
      );
    },
  );
});

describe('the start is refused (G13)', () => {
  it('in development beyond loopback, with the remedy', () => {
    expect(() => checkAccessSettings(true, '0.0.0.0', new Map())).toThrow(/COUNTERSIGN_HTTP_HOST=127\.0\.0\.1/);
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(() => checkAccessSettings(true, host, new Map())).not.toThrow();
  });

  it('outside development without keys', () => {
    expect(() => checkAccessSettings(false, '0.0.0.0', new Map())).toThrow(/COUNTERSIGN_API_KEYS_FILE/);
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
      ['twice the same key', `- ${entry}\n- ${entry}`, /\/1\/keySha256: the same key/],
    ])('%s', async (_name, text, fault) => {
      await expect(read(text)).rejects.toThrow(fault);
    });

    it('not there', async () => {
      await expect(readApiKeys(path.join(folder, 'none.yaml'))).rejects.toThrow(/ENOENT/);
    });

    it('but not by one that is right', async () => {
      expect([...(await read(`- ${entry}`)).values()]).toEqual([
        { tenant: 'acme', principal: { id: 'service:ci', kind: 'service', roles: ['agent'] } },
      ]);
    });
  });
});
