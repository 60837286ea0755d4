import { toolContractSchema, type ToolContract } from '#contracts';
import { CONTRACTS } from '../../testing/fixtures.ts';
import { nameOperation, nameResources } from './name-effects.ts';

const write = CONTRACTS.find((contract) => contract.name === 'create_ticket')!;
const keyed = (template: string): ToolContract =>
  toolContractSchema.parse({ ...write, idempotency: { mode: 'key', template, place: { header: 'K' } } });
const scope = { tenant: 'dev', principalId: 'user:alice', callId: 'call_x', taskId: 'task-1' };

const named = (
  resources: string[],
  args: Record<string, unknown>,
  resourceForms?: NonNullable<ToolContract['resourceForms']>,
) => nameResources({ resources, ...(resourceForms ? { resourceForms } : {}) }, args);

describe('the resources of a call', () => {
  it('are canonical, sorted, each once; a list names each of its items', () => {
    const resources = named(['ticket:{ids}', 'service:{service}', 'queue'], {
      ids: ['b', 'a', 'b'],
      service: 'e\u0301',
    });
    expect(resources).toEqual({ ok: true, value: ['queue', 'service:\u00e9', 'ticket:a', 'ticket:b'] });
  });

  it('different values never give the same name', () => {
    const name = (owner: string, repo: string) => named(['repo:{owner}/{repo}'], { owner, repo });
    expect(name('a/b', 'c')).not.toEqual(name('a', 'b/c'));
    expect(name('{repo}', 'c')).toEqual({ ok: true, value: ['repo:%7Brepo%7D/c'] });
  });

  it.each([
    ['an absent argument', {}, '/id', 'required'],
    ['a control character', { id: 'a\u0000b' }, '/id', 'controlCharacter'],
    ['an invisible character', { id: 'a\u202eb' }, '/id', 'controlCharacter'],
    ['an object', { id: {} }, '/id', 'template'],
    ['an empty text', { id: '' }, '/id', 'template'],
    ['an empty list', { id: [] }, '/id', 'minItems'],
    ['one bad item', { id: ['a', null] }, '/id/1', 'template'],
    ['a very long text', { id: 'x'.repeat(600) }, '/id', 'maxLength'],
  ])('%s is refused with its place', (_, args, path, rule) => {
    expect(named(['ticket:{id}'], args)).toMatchObject({
      ok: false,
      code: 'INVALID_ARGS',
      details: [{ path, rule }],
    });
  });
});

describe('G6 the forms of a resource', () => {
  it.each([
    ['path', ['n.txt', './n.txt', 'a/../n.txt', './/n.txt', 'n.txt/'], 'n.txt'],
    ['path', ['/a/b', '//a/./b/', '/a/c/../b'], '/a/b'],
    ['path', ['.', './', 'a/..'], '.'],
    ['path', ['e\u0301.txt', '\u00e9.txt'], '\u00e9.txt'],
    ['lower', ['Ann@Example.org', 'ann@example.ORG'], 'ann@example.org'],
    ['lower_path', ['./Notes/N.TXT', 'notes/n.txt'], 'notes/n.txt'],
  ] as const)('%s: %j are one', (form, written, name) => {
    for (const path of written)
      expect(named(['file:{path}'], { path }, { path: form })).toEqual({ ok: true, value: [`file:${name}`] });
  });

  it('what differs stays apart, and a form is for its argument alone', () => {
    const forms = { path: 'path' } as const;
    const distinct = ['N.txt', 'n.txt', '/n.txt', 'a/n.txt', 'a\\..\\n.txt', '%2e/n.txt', ' n.txt', '...'];
    const all = distinct.map((path) => JSON.stringify(named(['file:{path}'], { path }, forms)));
    expect(new Set(all).size).toBe(distinct.length);
    expect(named(['file:{path}'], { path: './n.txt' })).toEqual({ ok: true, value: ['file:./n.txt'] });
    expect(named(['{path}@{branch}'], { path: './a/b', branch: './x' }, forms)).toEqual({
      ok: true,
      value: ['a%2Fb@.%2Fx'],
    });
  });

  it.each(['..', '../n.txt', 'a/../../n.txt', '/..', './/../n.txt'])(
    'a path that leads out (%s) is refused',
    (path) => {
      expect(named(['file:{path}'], { path }, { path: 'path' })).toMatchObject({
        ok: false,
        code: 'INVALID_ARGS',
        details: [{ path: '/path', rule: 'path' }],
      });
      expect(named(['file:{paths}'], { paths: ['a', path] }, { paths: 'lower_path' })).toMatchObject({
        ok: false,
        details: [{ path: '/paths/1', rule: 'path' }],
      });
    },
  );
});

describe('the operation key (G7)', () => {
  it('is prefixed with tenant and principal, and fills task, tool and arguments', () => {
    expect(nameOperation(keyed('{task}'), {}, scope)).toEqual({ ok: true, value: 'dev/user:alice/task-1' });
    expect(nameOperation(keyed('{task}:{tool}:{arg:id}'), { id: 7 }, scope)).toEqual({
      ok: true,
      value: 'dev/user:alice/task-1:ops.create_ticket:7',
    });
  });

  it('is the callId for reads and for tools without a key', () => {
    const read = CONTRACTS.find((contract) => contract.layer === 'read')!;
    const none = CONTRACTS.find((contract) => contract.idempotency.mode === 'none')!;
    expect([read, none].map((contract) => nameOperation(contract, {}, scope))).toEqual([
      { ok: true, value: 'call_x' },
      { ok: true, value: 'call_x' },
    ]);
  });

  it('a missing task or argument is IDEMPOTENCY_REQUIRED', () => {
    expect(nameOperation(keyed('{task}'), {}, { ...scope, taskId: undefined })).toMatchObject({
      ok: false,
      code: 'IDEMPOTENCY_REQUIRED',
      details: [{ path: '/taskId' }],
    });
    expect(nameOperation(keyed('{arg:id}'), {}, scope)).toMatchObject({
      ok: false,
      code: 'IDEMPOTENCY_REQUIRED',
      details: [{ path: '/id' }],
    });
    expect(nameOperation(keyed('{else}'), {}, scope)).toMatchObject({ ok: false, code: 'IDEMPOTENCY_REQUIRED' });
  });

  it('never meets another principal or another task, whatever their names hold', () => {
    const key = (principalId: string, taskId: string, id: string) =>
      nameOperation(keyed('{task}:{arg:id}'), { id }, { ...scope, principalId, taskId });
    expect(key('user:a', 'b/c', 'd')).not.toEqual(key('user:a/b', 'c', 'd'));
    expect(key('user:a', 'b:c', 'd')).not.toEqual(key('user:a', 'b', 'c:d'));
  });

  it('stays within its length', () => {
    const result = nameOperation(
      keyed('{arg:a}:{arg:b}:{arg:c}'),
      { a: 'x'.repeat(500), b: 'x'.repeat(500), c: 'x'.repeat(500) },
      scope,
    );
    expect(result).toEqual({ ok: true, value: expect.stringMatching(/^dev\/user:alice\/sha256:[0-9a-f]{64}$/) });
  });
});
