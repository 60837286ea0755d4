import { openApprovalWorld, type ApprovalWorld } from '../cases/approval-world.ts';
import { loadCases } from '../cases/expand-case.ts';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { ask } from './system.ts';

interface Standing {
  standingId: string;
  status: string;
  used: number;
}

/** The whole installation: what a person allowed in advance runs without asking, and nothing beyond it. */
describe('standing grants over HTTP', () => {
  let world: ApprovalWorld;
  beforeAll(async () => {
    world = await openApprovalWorld(loadCases('approval').find(({ id }) => id === 'B046')!);
  });
  afterAll(() => world.close());

  const grant = (person: string, over: object = {}) =>
    ask<Standing>(world.system, person, 'POST', '/v1/standing-grants', {
      tool: 'cases.open_issue',
      uses: 2,
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
      ...over,
    });
  const call = (title: string) =>
    ask<{ ok: boolean; status?: string; callId: string }>(
      world.system,
      'alice',
      'POST',
      '/v1/calls',
      { tool: 'cases.open_issue', arguments: { title }, taskId: `task-${title}` },
      { prefer: 'wait=5' },
    );
  const waits = (callId: string) =>
    until(async () => {
      const { body } = await ask<{ items: { callId: string }[] }>(
        world.system,
        'bob',
        'GET',
        '/v1/approvals?status=pending',
      );
      return body.items.find((approval) => approval.callId === callId);
    });

  it('let so many calls through, are shown, audited, and answer for none once they are used up or revoked (G3, G12)', async () => {
    expect((await grant('alice')).status).toBe(403);
    expect((await grant('bob', { tool: 'cases.nothing' })).body).toMatchObject({ code: 'UNKNOWN_TOOL' });
    const { status, body: given } = await grant('bob');
    expect([status, given.status]).toEqual([201, 'active']);
    expect((await ask(world.system, 'other/bob', 'GET', `/v1/standing-grants/${given.standingId}`)).status).toBe(404);

    expect((await call('one')).body.ok).toBe(true);
    expect((await call('two')).body.ok).toBe(true);
    const { body: used } = await ask<Standing>(world.system, 'bob', 'GET', `/v1/standing-grants/${given.standingId}`);
    expect(used).toMatchObject({ status: 'used_up', used: 2 });
    await waits((await call('three')).body.callId);

    const { body: second } = await grant('bob');
    const path = `/v1/standing-grants/${second.standingId}/revoke`;
    expect((await ask(world.system, 'alice', 'POST', path, {})).status).toBe(403);
    expect((await ask<Standing>(world.system, 'bob', 'POST', path, {})).body.status).toBe('revoked');
    await waits((await call('four')).body.callId);

    expect(world.effects.open_issue).toEqual([{ title: 'one' }, { title: 'two' }]);
    await until(async () => {
      const { body } = await ask<{ items: { type: string }[] }>(world.system, 'ann', 'GET', '/v1/audit?limit=200');
      const types = new Set(body.items.map(({ type }) => type));
      return ['granted', 'revoked', 'refused'].every((what) => types.has(`dev.countersign.standing.${what}.v1`));
    });
  }, 60_000);
});
