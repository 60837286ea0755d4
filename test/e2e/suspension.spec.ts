import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { openEmbedded } from './open-embedded.ts';
import { ask, type System } from './system.ts';
import { startWorld, type World } from './world.ts';

interface Approval {
  readonly approvalId: string;
  readonly callId: string;
  readonly digest: string;
  readonly status: string;
}

/** The whole installation with a file of suspended tenants. */
describe('a tenant that is suspended while its work goes on', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-suspension-'));
  const file = path.join(folder, 'suspended.txt');
  let world: World;
  let system: System;
  beforeAll(async () => {
    writeFileSync(file, '');
    world = await startWorld();
    system = await openEmbedded({ ...world, env: { ...world.env, COUNTERSIGN_SUSPENDED_TENANTS: file } });
  });
  afterAll(async () => {
    await system?.close();
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const write = (item: string) => {
    const body = { tool: 'probe.guarded_write', arguments: { item }, taskId: item };
    return ask<{ callId: string }>(system, 'alice', 'POST', '/v1/calls', body);
  };
  const waits = async (callId: string): Promise<Approval | undefined> => {
    const { body } = await ask<{ items: Approval[] }>(system, 'bob', 'GET', '/v1/approvals?status=pending');
    return body.items.find((one) => one.callId === callId);
  };
  const result = async (callId: string): Promise<object | null> =>
    (await ask<{ result: object | null }>(system, 'alice', 'GET', `/v1/calls/${callId}`)).body.result;
  const decide = ({ approvalId, digest }: Approval) =>
    ask(system, 'bob', 'POST', `/v1/approvals/${approvalId}/decision`, { decision: 'approved', digest });
  const applied = (item: string): number =>
    Object.entries(world.sink.state().byKey)
      .filter(([key]) => key.includes(item))
      .reduce((sum, [, { applied: count }]) => sum + count, 0);

  it('its approvals are void, nothing is sent, and lifted its work goes on, by new approvals alone (G3)', async () => {
    const [before, after] = [1, 2].map(() => `suspended-${randomBytes(5).toString('hex')}`) as [string, string];
    const { callId } = (await write(before)).body;
    const asked = await until(() => waits(callId));
    writeFileSync(file, 'dev\n');
    const voided = await until(async () => {
      const { body } = await ask<Approval>(system, 'bob', 'GET', `/v1/approvals/${asked.approvalId}`);
      return body.status === 'superseded' && body;
    });
    expect(voided).toMatchObject({ supersededWhy: 'policy_denies', replacedBy: null });
    const ended = await until(() => result(callId));
    expect(ended).toMatchObject({ ok: false, status: 'denied', error: { message: 'The tenant is suspended.' } });
    expect((await write(after)).status).toBe(403);
    expect((await decide(asked)).status).toBe(403);
    writeFileSync(file, '# lifted\n');
    // Gateway, policy and executors hear of it each by their own look: until then new calls are refused or denied.
    let tries = 0;
    const again = await until(async () => {
      const item = `${after}-${++tries}`;
      const answer = await write(item);
      if (answer.status !== 202) return null;
      const { callId } = answer.body;
      const approval = await until(async () => (await waits(callId)) ?? ((await result(callId)) && 'denied'));
      return approval === 'denied' ? null : { item, approval };
    });
    expect((await decide(asked)).status).toBe(409);
    expect((await decide(again.approval)).status).toBe(200);
    await until(() => applied(again.item) === 1);
    expect(applied(before)).toBe(0);
  }, 60_000);
});
