import { Database, migrate, readMigrations } from '#persistence';
import { ContractCache, ContractStore, contractDigest } from '#registry';
import { freshDatabase, type FreshDatabase } from '../../persistence/testing/fresh-database.ts';
import { sampleContract } from '../testing/sample-contract.ts';

const migrations = new URL('../../../apps/gateway/src/migrations/', import.meta.url);

describe('the registry', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let store: ContractStore;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = new Database({ url: fresh.url, schema: 'gateway' });
    await migrate(database, readMigrations(migrations));
    store = new ContractStore(database);
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });
  beforeEach(() =>
    database.change({ text: 'truncate contract, tool_version, live_version, tool_change, registry_revision' }),
  );

  const contract = sampleContract();
  const digest = contractDigest(contract);

  it('publishing is idempotent, and what was published is found by name, version, model name and digest', async () => {
    expect(await store.publish('acme', contract)).toEqual({ digest, contract, added: true });
    expect(await store.publish('acme', structuredClone(contract))).toEqual({ digest, contract, added: false });
    for (const name of ['desk.create_ticket', 'desk.create_ticket@1.0.0', 'desk__create_ticket']) {
      expect(await store.resolve('acme', name)).toEqual({ digest, contract });
    }
    expect(await store.byDigest(digest)).toEqual({ digest, contract });
    expect(await store.list('acme')).toEqual([{ digest, contract }]);
  });

  it('a published version never changes: other content under its name is a conflict and changes nothing', async () => {
    await store.publish('acme', contract);
    const changed = sampleContract({ description: 'Does something else.' });
    const added = sampleContract({ name: 'added' });
    await expect(store.publishAll('acme', [added, changed])).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect((await store.resolve('acme', 'desk.create_ticket'))?.digest).toBe(digest);
    expect(await store.resolve('acme', 'desk.added')).toBeNull();
    await expect(store.publishAll('acme', [changed, contract])).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('the highest version is the live one, whatever the order of publishing; older ones stay', async () => {
    for (const version of ['1.9.0', '1.10.0', '1.2.0']) await store.publish('acme', sampleContract({ version }));
    expect((await store.resolve('acme', 'desk.create_ticket'))?.contract.version).toBe('1.10.0');
    expect((await store.resolve('acme', 'desk.create_ticket@1.2.0'))?.contract.version).toBe('1.2.0');
    expect((await store.list('acme')).map((p) => p.contract.version)).toEqual(['1.10.0']);
  });

  it('one tenant does not see what another published; both may publish the same (G12)', async () => {
    await store.publish('acme', contract);
    expect(await store.resolve('other', 'desk.create_ticket')).toBeNull();
    expect(await store.list('other')).toEqual([]);
    await store.publish('other', contract);
    await store.publish('other', sampleContract({ version: '2.0.0' }));
    expect((await store.resolve('acme', 'desk.create_ticket'))?.contract.version).toBe('1.0.0');
  });

  it('a name that is none is not found', async () => {
    await store.publish('acme', contract);
    for (const name of [
      '',
      'desk',
      'desk.create_ticket@1',
      'desk.create_ticket@2.0.0',
      'Desk.create_ticket',
      "desk.x'; --",
    ]) {
      expect(await store.resolve('acme', name)).toBeNull();
    }
  });

  it('a contract that is not publishable is refused before anything is written', async () => {
    await expect(store.publish('acme', sampleContract({ output: {} }))).rejects.toMatchObject({ code: 'INVALID_ARGS' });
    expect(await store.list('acme')).toEqual([]);
  });

  it('replicas that publish the same at the same time both succeed', async () => {
    const contracts = ['a', 'b', 'c'].map((name) => sampleContract({ name }));
    await Promise.all([store.publishAll('acme', contracts), store.publishAll('acme', contracts.toReversed())]);
    expect(await store.list('acme')).toHaveLength(3);
  });

  it('what the store gives back passes the digest check of the cache', async () => {
    await store.publish('acme', contract);
    const read = async <T>(_service: string, _question: string, args: object): Promise<T> =>
      (await store.byDigest((args as { digest: string }).digest)) as T;
    expect(await new ContractCache({ read }).byDigest(digest)).toEqual(contract);
  });
});
