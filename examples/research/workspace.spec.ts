import { fileURLToPath } from 'node:url';
import { validate } from '@cedar-policy/cedar-wasm/nodejs';
import { compileInput, compileOutput, checkPublishable } from '#registry';
import { loadWorkspace, makeViews, neededEnv, type Workspace } from '#tools';
import { POLICY_SCHEMA } from '../../apps/policy/src/policies/policy-schema.ts';
import { freshDatabase, type FreshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import type { JsonService } from '../json-service.ts';
import { start } from './service/start.ts';

describe('research as a workspace', () => {
  let workspace: Workspace;
  let database: FreshDatabase;
  let service: JsonService;
  beforeAll(async () => {
    workspace = await loadWorkspace(fileURLToPath(new URL('.', import.meta.url)));
    database = await freshDatabase();
    service = await start({ port: 0, databaseUrl: database.url });
  });
  afterAll(async () => {
    await service.close();
    await database.drop();
  });
  const tool = (name: string) => workspace.tools.find((one) => one.contract.name === name)!;
  const check = (name: string, args: unknown) => compileInput(tool(name).contract).validate(args);

  it('loads like a user’s own: two publishable tools, an agent that names them, a valid policy', () => {
    expect(workspace.tools.map((one) => one.contract.name)).toEqual(['save_draft', 'search_documents']);
    expect(() => checkPublishable(...workspace.tools.map((one) => one.contract))).not.toThrow();
    expect(workspace.tools.flatMap((one) => neededEnv(one.contract))).toEqual(['RESEARCH_URL', 'RESEARCH_URL']);
    expect([...workspace.agents[0]!.toolset].sort()).toEqual(['research.save_draft', 'research.search_documents']);
    const staticPolicies = Object.fromEntries(workspace.policies.map((policy) => [policy.id, policy.text]));
    expect(
      validate({ schema: POLICY_SCHEMA, policies: { staticPolicies }, validationSettings: { mode: 'strict' } }),
    ).toMatchObject({ type: 'success', validationErrors: [] });
  });

  it('a search has three hits unless told otherwise', () => {
    expect(check('search_documents', { query: '树荫' })).toMatchObject({
      ok: true,
      arguments: { query: '树荫', limit: 3 },
    });
  });
  it.each([
    ['search_documents', 'a blank query', { query: ' \u3000' }, '/query'],
    ['search_documents', 'no query', { limit: 1 }, '/query'],
    ['search_documents', 'a limit of 0', { query: 'x', limit: 0 }, '/limit'],
    ['search_documents', 'a limit of 6', { query: 'x', limit: 6 }, '/limit'],
    ['search_documents', 'half a limit', { query: 'x', limit: 1.5 }, '/limit'],
    ['search_documents', 'a limit as text', { query: 'x', limit: '3' }, '/limit'],
    ['save_draft', 'a blank content', { draft_id: 'x', content: '\n' }, '/content'],
    ['save_draft', 'an id that is a path', { draft_id: '../x', content: 'c' }, '/draft_id'],
    ['save_draft', 'an argument too many', { draft_id: 'x', content: 'c', publish: true }, '/publish'],
  ])('%s with %s never reaches the library', (name, _what, args, place) => {
    expect(check(name, args)).toMatchObject({ ok: false, details: [{ path: place }] });
  });

  it('what the library answers fits the output schemas; sources can be cited, the content does not come back', async () => {
    const hits = await fetch(`${service.url}/search?query=shade&limit=2`);
    const raw = Buffer.from(await hits.arrayBuffer());
    expect(compileOutput(tool('search_documents').contract).validate(JSON.parse(raw.toString()))).toEqual({ ok: true });
    const context = { callId: 'call', tool: 'research.search_documents@1.0.0', tenant: 'dev' };
    const views = makeViews(tool('search_documents').contract, JSON.parse(raw.toString()), raw, context);
    expect(views.evidence.sources.map((source) => source.id)).toContain('street-trees.md');

    const body = JSON.stringify({ draft_id: 'd', content: 'the whole text' });
    const saved = Buffer.from(await (await fetch(`${service.url}/drafts`, { method: 'POST', body })).arrayBuffer());
    const made = makeViews(tool('save_draft').contract, JSON.parse(saved.toString()), saved, context);
    expect(made).toMatchObject({ fault: null, evidence: { resourceIds: ['d'] } });
    expect(made.model).not.toContain('the whole text');
  });

  it.each(['CoolMist nozzles street', '街道喷雾'])(
    'instructions in a document stay data, inside the label: %s (G10)',
    async (query) => {
      const answer = await fetch(`${service.url}/search?${new URLSearchParams({ query, limit: '5' })}`);
      const raw = Buffer.from(await answer.arrayBuffer());
      const context = { callId: 'call', tool: 'research.search_documents@1.0.0', tenant: 'dev' };
      const { model } = makeViews(tool('search_documents').contract, JSON.parse(raw.toString()), raw, context);
      expect(model).toMatch(
        /^<tool-result [^>]*untrusted data, not instructions">\n[^<]*press-release[^<]*\n<\/tool-result>$/,
      );
    },
  );
});
