import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileInput, compileOutput, checkPublishable } from '#registry';
import { loadWorkspace, makeViews, neededEnv, type Workspace } from '#tools';
import { CedarEngine } from '../../apps/policy/src/adapters/cedar-engine.ts';
import { checkPolicies, readPolicyFiles } from '../../apps/policy/src/adapters/read-policies.ts';
import { judgeCall } from '../../apps/policy/src/domain/judge-call.ts';
import { callProposed } from '../../apps/policy/testing/policy-fixture.ts';
import type { JsonService } from '../json-service.ts';
import { start } from './service/start.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

describe('refund as a workspace', () => {
  let workspace: Workspace;
  let directory: string;
  let service: JsonService;
  beforeAll(async () => {
    workspace = await loadWorkspace(HERE);
    directory = mkdtempSync(path.join(os.tmpdir(), 'orders-'));
    service = await start(0, directory);
  });
  afterAll(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const contractOf = (name: string) => workspace.tools.find((one) => one.contract.name === name)!.contract;
  const check = (name: string, args: unknown) => compileInput(contractOf(name)).validate(args);

  it('loads like a user’s own: three publishable tools and an agent that names them', () => {
    expect(workspace.tools.map((one) => one.contract.name)).toEqual(['draft_refund', 'execute_refund', 'read_order']);
    expect(() => checkPublishable(...workspace.tools.map((one) => one.contract))).not.toThrow();
    expect(new Set(workspace.tools.flatMap((one) => neededEnv(one.contract)))).toEqual(new Set(['ORDERS_URL']));
    const names = workspace.tools.map((one) => `orders.${one.contract.name}`).sort();
    expect([...workspace.agents[0]!.toolset].sort()).toEqual(names);
  });

  describe('the limits of the policy, in a run that a model drives', () => {
    const engine = new CedarEngine(checkPolicies(readPolicyFiles([HERE])));
    const judged = (name: string, args: Record<string, unknown>, resources: string[]) => {
      const data = { driver: 'agent', arguments: args, resources, origins: { '/draft_id': 'tool:*' } } as const;
      return judgeCall('dev', callProposed({ contract: contractOf(name), data }).data, contractOf(name), engine.ask);
    };
    const execute = (up_to: string) =>
      judged('execute_refund', { draft_id: 'draft-1', up_to }, ['refund_draft:draft-1', `refund_limit:${up_to}`]);

    it.each(['EUR 50.00', 'CNY 400.00'])('up to %s runs without a person', (limit) => {
      expect(execute(limit)).toMatchObject({ kind: 'allow', reasons: ['refund/refund-limits/small-refunds-run'] });
    });
    it.each(['EUR 500.00', 'CNY 4000.00'])('up to %s asks a person', (limit) => {
      expect(execute(limit)).toMatchObject({ kind: 'ask' });
    });
    it.each(['EUR 5000.00', 'CNY 40000.00', 'EUR 1.00'])('up to %s is denied: it is not one of the limits', (limit) => {
      expect(execute(limit)).toMatchObject({
        kind: 'deny',
        reasons: ['refund/refund-limits/no-refund-above-the-limit'],
      });
    });
    it('a call that names no limit is denied', () => {
      expect(judged('execute_refund', { draft_id: 'draft-1' }, [])).toMatchObject({ kind: 'deny' });
    });
    it('a draft runs without a person', () => {
      const draft = (amount_minor: number) =>
        judged('draft_refund', { order_id: 'order-1', amount_minor }, ['order:order-1']);
      expect(draft(400_000)).toMatchObject({ kind: 'allow' });
      expect(draft(400_001)).toMatchObject({
        kind: 'deny',
        reasons: ['refund/refund-limits/no-draft-above-the-limit'],
      });
    });
  });

  it('the limit is the lowest one unless told otherwise', () => {
    expect(check('execute_refund', { draft_id: 'draft-1' })).toMatchObject({
      ok: true,
      arguments: { draft_id: 'draft-1', up_to: 'EUR 50.00' },
    });
  });
  it.each([
    ['execute_refund', 'a limit of its own', { draft_id: 'draft-1', up_to: 'EUR 51.00' }, '/up_to'],
    ['execute_refund', 'no draft', {}, '/draft_id'],
    ['draft_refund', 'an amount of 0', { amount_minor: 0 }, '/amount_minor'],
    ['draft_refund', 'half a cent', { amount_minor: 1.5 }, '/amount_minor'],
    ['draft_refund', 'an unknown currency', { currency: 'XYZ' }, '/currency'],
    ['draft_refund', 'a blank reason', { reason: ' ' }, '/reason'],
  ])('%s with %s never reaches the service', (name, _what, args, place) => {
    const whole = { order_id: 'order-1', amount_minor: 1, currency: 'EUR', reason: 'r', ...args };
    expect(check(name, name === 'draft_refund' ? whole : args)).toMatchObject({
      ok: false,
      details: [{ path: place }],
    });
  });

  it('what the service answers fits the output schemas, and no name of a customer leaves', async () => {
    const json = async (response: Response) => Buffer.from(await response.arrayBuffer());
    const post = (route: string, body: object) =>
      fetch(service.url + route, { method: 'POST', body: JSON.stringify(body) }).then(json);
    const order = await json(await fetch(`${service.url}/orders/order-1042`));
    const draft = await post('/drafts', { order_id: 'order-1042', amount_minor: 1, currency: 'EUR', reason: 'r' });
    const { draft_id } = JSON.parse(draft.toString()) as { draft_id: string };
    const refund = await post('/refunds', { draft_id, up_to: 'EUR 50.00' });
    for (const [name, raw] of [
      ['read_order', order],
      ['draft_refund', draft],
      ['execute_refund', refund],
    ] as const) {
      const value: unknown = JSON.parse(raw.toString());
      expect([name, compileOutput(contractOf(name)).validate(value)]).toEqual([name, { ok: true }]);
    }
    const context = { callId: 'call', tool: 'orders.read_order@1.0.0', tenant: 'dev' };
    const views = makeViews(contractOf('read_order'), JSON.parse(order.toString()), order, context);
    expect(views.evidence.sources.map((source) => source.id)).toEqual(['order-1042']);
    expect(views.model).not.toContain('Meyer');
  });
});
