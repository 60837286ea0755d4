import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWorkspace, neededEnv } from '#tools';

const good = fileURLToPath(new URL('../../testing/workspaces/good/', import.meta.url));

describe('loadWorkspace', () => {
  const made: string[] = [];
  const folder = async (files: Record<string, string>): Promise<string> => {
    const root = await mkdtemp(path.join(os.tmpdir(), 'workspace-'));
    made.push(root);
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(root, name)), { recursive: true });
      await writeFile(path.join(root, name), text);
    }
    return root;
  };
  afterAll(() => Promise.all(made.map((root) => rm(root, { recursive: true }))));

  const contract = {
    namespace: 'x',
    name: 'look',
    version: '1.0.0',
    layer: 'read',
    title: 'T',
    description: 'D',
    whenToUse: 'U',
    whenNotToUse: 'N',
    sideEffects: 'none',
    input: { type: 'object' },
    output: {},
  };
  const http = JSON.stringify({ ...contract, execution: { kind: 'http', method: 'GET', url: 'http://x/' } });

  it('loads tools of modules and files, policies and agents', async () => {
    const workspace = await loadWorkspace(good);
    expect(workspace.name).toBe('good');
    expect(workspace.tools.map((tool) => [tool.contract.name, typeof tool.handler])).toEqual([
      ['fetch', 'undefined'],
      ['look', 'function'],
    ]);
    expect(neededEnv(workspace.tools[0]!.contract)).toEqual(['GOOD_URL']);
    expect(workspace.policies).toEqual([{ id: 'open', text: expect.stringContaining('permit') }]);
    expect(workspace.agents).toMatchObject([
      {
        name: 'looker',
        model: 'gpt-test',
        instructions: 'Look.',
        toolset: ['good.look', 'good.fetch@1.0.0'],
        budgets: { maxTurns: 3 },
      },
    ]);
  });

  it('stages that no run can go through are told with their place and the remedy', async () => {
    const root = await folder({
      'tools/a.json': http,
      'agents/a.yaml': `name: a
model: m
instructions: i
toolset: [x.look]
stages:
  - { name: gather, toolset: [x.look, x.none] }
  - { name: act, toolset: [x.look], toolChoice: required }
`,
    });
    const message = await loadWorkspace(root).catch((error: Error) => error.message);
    expect(message).toContain('agents/a.yaml: /stages/0/toolset/1: x.none is not in the toolset of the agent');
    expect(message).toContain('agents/a.yaml: /stages/0/advanceWhen: is missing');
    expect(message).toContain('agents/a.yaml: /stages/1/toolChoice: the model could never answer');
  });

  it('tells every fault of every file in one message (G13)', async () => {
    const root = await folder({
      'tools/a.json': http,
      'tools/b.json': http,
      'tools/c.json': '{"name":1,"name":2}',
      'tools/d.yaml': 'a: [',
      'tools/e.json': JSON.stringify({ ...contract, name: 'Bad-Name', execution: { kind: 'local' } }),
      'tools/f.json': JSON.stringify({ ...contract, name: 'orphan', execution: { kind: 'local' } }),
      'tools/g.mjs': 'export const x = 1;',
      'tools/h.mjs': 'throw new Error("cannot start");',
      'policies/p.cedar': '  ',
      'agents/q.yaml': 'name: Q\nmodel: m\ninstructions: i\ntoolset: [nope]\nextra: 1',
      'tools/README.md': 'ignored',
      'tools/a.spec.ts': 'ignored',
    });
    const message = await loadWorkspace(root).then(
      () => '',
      (error: Error) => error.message,
    );
    for (const part of [
      'tools/b.json: defines x.look@1.0.0, which a.json defines too',
      'tools/c.json: The key stands twice',
      'tools/d.yaml: ',
      'tools/e.json: tool x.Bad-Name@1.0.0 is not a valid contract: /name',
      'tools/f.json: x.orphan@1.0.0 is a local tool without a handler',
      'tools/g.mjs: exports no tool',
      'tools/h.mjs: line 1: cannot start',
      'policies/p.cedar: is empty',
      'agents/q.yaml: /name:',
      'agents/q.yaml: /toolset/0:',
      'agents/q.yaml: /: Unrecognized key',
    ])
      expect(message).toContain(part);
    expect(message).not.toContain('README');
  });

  it('names the line of a module that cannot be loaded (G13)', async () => {
    const root = await folder({ 'tools/throws.mjs': "// first\n\nthrow new Error('boom');\n" });
    await expect(loadWorkspace(root)).rejects.toThrow('tools/throws.mjs: line 3: boom');
  });

  it('a link counts as the file that it names; a dead one is a fault, not nothing (G13)', async () => {
    const shared = await folder({ 'look.json': http });
    const root = await folder({ 'tools/other.json': http.replace('look', 'other') });
    await symlink(path.join(shared, 'look.json'), path.join(root, 'tools/look.json'));
    expect((await loadWorkspace(root)).tools.map((tool) => tool.contract.name)).toEqual(['look', 'other']);
    await symlink(path.join(shared, 'gone'), path.join(root, 'tools/gone.json'));
    await expect(loadWorkspace(root)).rejects.toThrow('tools/gone.json: cannot be read (ENOENT)');
  });

  it('says so when the folder is missing or empty', async () => {
    await expect(loadWorkspace('/no/such/folder')).rejects.toThrow('the workspace folder does not exist');
    await expect(loadWorkspace(await folder({}))).rejects.toThrow('the workspace is empty');
  });
});
