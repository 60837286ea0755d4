import { toolContractSchema, type PublishedContract } from '#contracts';
import { contractDigest } from '#registry';
import { ToolCatalogue } from './tool-catalogue.ts';

function published(version: string, name = 'look'): PublishedContract {
  const contract = toolContractSchema.parse({
    namespace: 'desk',
    name,
    version,
    layer: 'read',
    title: 't',
    description: 'd',
    whenToUse: 'w',
    whenNotToUse: 'n',
    input: { type: 'object' },
    output: { type: 'object' },
    sideEffects: 'none',
    execution: { kind: 'local' },
  });
  return { digest: contractDigest(contract), contract };
}

class FakeStore {
  live: PublishedContract[] = [];
  pinned = new Map<string, PublishedContract>();
  lists = 0;
  resolves = 0;
  fails = false;
  list = (): Promise<PublishedContract[]> => {
    this.lists++;
    return this.fails ? Promise.reject(new Error('away')) : Promise.resolve(this.live);
  };
  resolve = (_tenant: string, name: string): Promise<PublishedContract | null> => {
    this.resolves++;
    return Promise.resolve(this.pinned.get(name) ?? null);
  };
}

describe('the live tools in memory', () => {
  let now: number;
  let store: FakeStore;
  let tools: ToolCatalogue;
  beforeEach(() => {
    now = 0;
    store = new FakeStore();
    store.live = [published('1.1.0')];
    tools = new ToolCatalogue(store, { now: () => now });
  });
  const versionOf = async (name: string) => (await tools.resolve('acme', name))?.tool;

  it('a known tool costs no statement, however often and at the same time it is asked for', async () => {
    await Promise.all(Array.from({ length: 50 }, () => versionOf('desk.look')));
    for (const name of ['desk.look', 'desk__look', 'desk.look@1.1.0'])
      expect(await versionOf(name)).toBe('desk.look@1.1.0');
    expect(store).toMatchObject({ lists: 1, resolves: 0 });
  });

  it('what a replica published is seen: at once where a name is missing, else beside a request', async () => {
    await versionOf('desk.look');
    store.live = [published('1.2.0'), published('1.0.0', 'find')];
    now = 300;
    expect(await versionOf('desk.find')).toBe('desk.find@1.0.0');
    store.live = [published('1.3.0')];
    now = 3_000;
    expect(await versionOf('desk.look')).toBe('desk.look@1.2.0');
    expect(await versionOf('desk.look')).toBe('desk.look@1.3.0');
  });

  it('made-up names are not asked for again and again', async () => {
    await versionOf('desk.look');
    for (let i = 0; i < 20; i++) expect(await versionOf(`desk.x${i}@1.0.0`)).toBeUndefined();
    expect(await versionOf('no name')).toBeUndefined();
    expect(store).toMatchObject({ lists: 1, resolves: 0 });
  });

  it('an older version is read once', async () => {
    store.pinned.set('desk.look@1.0.0', published('1.0.0'));
    expect(await versionOf('desk.look@1.0.0')).toBe('desk.look@1.0.0');
    expect(await versionOf('desk.look@1.0.0')).toBe('desk.look@1.0.0');
    expect(store.resolves).toBe(1);
  });

  it('while the database is away the last list stays good', async () => {
    await versionOf('desk.look');
    store.fails = true;
    now = 60_000;
    expect(await versionOf('desk.look')).toBe('desk.look@1.1.0');
    await expect(tools.resolve('other', 'desk.look')).rejects.toThrow('away');
  });
});
