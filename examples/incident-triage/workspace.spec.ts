import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from '@cedar-policy/cedar-wasm/nodejs';
import { compileInput, compileOutput, checkPublishable } from '#registry';
import { loadWorkspace, makeViews, type HandlerContext, type Workspace } from '#tools';
import { POLICY_SCHEMA } from '../../apps/policy/src/policies/policy-schema.ts';
import type { JsonService } from '../json-service.ts';
import { start } from './service/start.ts';

describe('incident triage as a workspace', () => {
  let workspace: Workspace;
  let directory: string;
  let service: JsonService;
  beforeAll(async () => {
    workspace = await loadWorkspace(fileURLToPath(new URL('.', import.meta.url)));
    directory = mkdtempSync(path.join(os.tmpdir(), 'incident-desk-'));
    service = await start(0, directory);
  });
  afterAll(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const tool = (name: string) => workspace.tools.find((one) => one.contract.name === name)!;

  it('loads like a user’s own: three publishable tools, an agent that names them, a valid policy', () => {
    expect(workspace.name).toBe('incident-triage');
    expect(workspace.tools.map((one) => one.contract.name)).toEqual([
      'create_incident_ticket',
      'read_recent_alerts',
      'search_runbook',
    ]);
    expect(() => checkPublishable(...workspace.tools.map((one) => one.contract))).not.toThrow();
    const names = workspace.tools.map((one) => `incidents.${one.contract.name}`).sort();
    expect([...workspace.agents[0]!.toolset].sort()).toEqual(names);
    const staticPolicies = Object.fromEntries(workspace.policies.map((policy) => [policy.id, policy.text]));
    expect(
      validate({ schema: POLICY_SCHEMA, policies: { staticPolicies }, validationSettings: { mode: 'strict' } }),
    ).toMatchObject({ type: 'success', validationErrors: [] });
  });

  it('what the service answers fits the output schemas', async () => {
    const answers: [string, unknown][] = [];
    const json = async (response: Response) => (await response.json()) as unknown;
    answers.push([
      'read_recent_alerts',
      await json(await fetch(`${service.url}/alerts?service=checkout&window_minutes=60`)),
    ]);
    const context = {
      env: { INCIDENTS_URL: service.url },
      signal: new AbortController().signal,
    } as unknown as HandlerContext;
    answers.push([
      'search_runbook',
      await tool('search_runbook').handler!({ query: '5xx', service: 'checkout' }, context),
    ]);
    const body = JSON.stringify({ severity: 'sev2', summary: 's', evidence_ids: ['alert-4711'] });
    answers.push([
      'create_incident_ticket',
      await json(await fetch(`${service.url}/tickets`, { method: 'POST', body })),
    ]);
    for (const [name, data] of answers)
      expect([name, compileOutput(tool(name).contract).validate(data)]).toEqual([name, { ok: true }]);
  });

  it('ids that a read returns can be cited as evidence and stand in the text for the model', async () => {
    const response = await fetch(`${service.url}/alerts?service=checkout&window_minutes=60`);
    const raw = Buffer.from(await response.arrayBuffer());
    const context = { callId: 'call', tool: 'incidents.read_recent_alerts@1.0.0', tenant: 'dev' };
    const views = makeViews(tool('read_recent_alerts').contract, JSON.parse(raw.toString()), raw, context);
    expect(views).toMatchObject({ fault: null, redactions: 0, truncated: null });
    expect(views.evidence.sources.map((source) => source.id)).toEqual(['alert-4711', 'alert-4712', 'alert-4713']);
    for (const source of views.evidence.sources) expect(views.model).toContain(source.id);
  });

  it.each([
    ['no evidence', { severity: 'sev1', summary: 's', evidence_ids: [] }, '/evidence_ids'],
    ['an unknown severity', { severity: 'sev9', summary: 's', evidence_ids: ['a'] }, '/severity'],
    ['a blank summary', { severity: 'sev1', summary: '  ', evidence_ids: ['a'] }, '/summary'],
    ['an argument too many', { severity: 'sev1', summary: 's', evidence_ids: ['a'], urgent: true }, '/urgent'],
  ])('a ticket with %s never reaches the service', (_what, args, place) => {
    const checked = compileInput(tool('create_incident_ticket').contract).validate(args);
    expect(checked).toMatchObject({ ok: false, details: [{ path: place }] });
  });

  it('without its setting, the local tool says which one is missing', async () => {
    const context = { env: {}, signal: new AbortController().signal } as unknown as HandlerContext;
    await expect(tool('search_runbook').handler!({ query: 'x', service: 'y' }, context)).rejects.toThrow(
      'INCIDENTS_URL',
    );
  });
});
