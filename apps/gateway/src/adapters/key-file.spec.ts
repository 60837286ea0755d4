import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLog, WatchedFile } from '#runtime';
import { until } from '../../../../libs/runtime/testing/service-harness.ts';
import { readApiKeys, type ApiKeys } from './api-keys.ts';

describe('the file of API keys', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'key-file-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const open = (file: string): Promise<WatchedFile<ApiKeys>> =>
    WatchedFile.open({
      file,
      what: 'the API keys',
      read: readApiKeys,
      count: (keys) => keys.size,
      log: createLog('test', 'silent'),
    });
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)];
  const entry = (hash: string, more = ''): string =>
    `- { keySha256: '${hash}', tenant: acme, principal: 'service:ci', roles: [agent]${more} }\n`;

  it('counts as it is now, without a restart: new keys, revoked ones, ones that are gone', async () => {
    const file = path.join(folder, 'keys.yaml');
    await writeFile(file, entry(one));
    const keys = await open(file);
    keys.start();
    try {
      expect(keys.current.get(two)).toBeUndefined();
      await writeFile(file, entry(one, ', revoked: true') + entry(two, ", scopes: { tools: ['desk.*'] }"));
      await until(() => keys.current.get(two));
      expect(keys.current.get(one)).toMatchObject({ revoked: true });
      expect(keys.current.get(two)).toMatchObject({ caller: { scope: { tools: ['desk.*'] } } });
      await writeFile(file, entry(two));
      await until(() => keys.current.get(one) === undefined);
    } finally {
      await keys.drain();
    }
  });

  it('keeps the last good keys when it is broken', async () => {
    const file = path.join(folder, 'broken.yaml');
    await writeFile(file, entry(one));
    const keys = await open(file);
    await writeFile(file, '- nonsense');
    await keys.look();
    expect(keys.current.get(one)).toBeDefined();
    await writeFile(file, entry(two));
    await keys.look();
    expect(keys.current.get(one)).toBeUndefined();
  });
});
