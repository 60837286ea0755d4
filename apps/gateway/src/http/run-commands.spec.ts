import { budgetsSchema, message, type RunEnded } from '#contracts';
import type { ControlCommand } from '../gateway-run-commands.ts';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

const runId = `run_${'3'.repeat(26)}`;
const context = { tenant: 'dev', runId, now: Date.parse('2026-11-30T12:00:00Z') };
const ended: RunEnded = {
  status: 'cancelled',
  outcome: 'no_effects',
  cause: { code: 'CANCELLED', message: 'by user:alice' },
  episode: 1,
  callCount: 0,
  callsDigest: `sha256:${'0'.repeat(64)}`,
  turns: 1,
  answer: null,
};

describe('commands to a run', () => {
  let gateway: HttpGateway;
  let view: Record<string, unknown>;
  const open = { tenant: 'dev', runId, principal: 'user:alice', status: 'running', calls: [], effects: [] };
  beforeAll(async () => {
    gateway = await openGateway({
      reads: { 'state-store.run': ({ tenant }: { tenant: string }) => (tenant === 'dev' ? view : null) },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    view = open;
    gateway.forget();
  });

  const send = (verb: string, body?: object, headers: Record<string, string> = {}, as = 'dev.dev.alice.agent') =>
    gateway.request('POST', `/v1/runs/${runId}/${verb}`, { as, headers, ...(body ? { body } : {}) });
  const refuse = async (
    type: 'CancelRun' | 'ResumeRun' | 'FinishRun' | 'ProposeCalls' | ControlCommand,
    code = 'INVALID_ARGS' as const,
  ) => {
    const { data } = await gateway.published(type);
    const refused = { commandId: data.commandId, code, message: 'The run has ended as "completed"' };
    await gateway.service.deliver('run.events', message('CommandRefused', context, refused));
  };

  it.each([
    ['cancel', 'CancelRun', undefined],
    ['resume', 'ResumeRun', { budgets: { maxTurns: 20 } }],
    ['finish', 'FinishRun', undefined],
    ['calls', 'ProposeCalls', { calls: [{ tool: 'desk.create_ticket', arguments: {} }] }],
  ] as const)('%s: a refusal is told as a conflict, also to who does not wait', async (verb, type, body) => {
    const answering = send(verb, body);
    await refuse(type);
    expect(await answering).toMatchObject({
      status: 409,
      body: { code: 'INVALID_ARGS', detail: 'The run has ended as "completed"' },
    });
  });

  it.each([
    ['pause', 'PauseRun', 'paused'],
    ['take-over', 'TakeOverRun', 'taken_over'],
    ['hand-back', 'HandBackRun', 'handed_back'],
  ] as const)(
    '%s is accepted when the run says so, and refused when it does not take it',
    async (verb, type, control) => {
      const accepting = send(verb, { reason: 'checked by hand' }, {}, 'dev.dev.olga.operator');
      const { data } = await gateway.published(type);
      expect(data).toMatchObject({ principal: { id: 'user:olga' }, reason: 'checked by hand' });
      const said = { commandId: data.commandId, no: 1, control, episode: 1, by: 'user:olga', reason: null };
      await gateway.service.deliver('run.events', message('RunControlled', context, said));
      expect(await accepting).toMatchObject({ status: 202, body: { runId, status: 'accepted' } });
      gateway.forget();
      const refusing = send(verb, undefined, {}, 'dev.dev.olga.operator');
      await refuse(type);
      expect((await refusing).status).toBe(409);
      expect((await send(verb, undefined, {}, 'dev.dev.ann.auditor')).status).toBe(403);
      expect((await send(verb, undefined, {}, 'dev.other.olga.operator')).status).toBe(404);
    },
  );

  it('a refusal that names places of the request is a bad request, with them', async () => {
    const answering = send('calls', { calls: [{ tool: 'desk.create_ticket', arguments: {}, dependsOn: ['nothing'] }] });
    const { data } = await gateway.published('ProposeCalls');
    expect(data.proposals[0]).toMatchObject({ dependsOn: ['nothing'] });
    const details = [{ path: '/calls/0/dependsOn/0', rule: 'known' }];
    const refused = { commandId: data.commandId, code: 'INVALID_ARGS' as const, message: 'no', details };
    await gateway.service.deliver('run.events', message('CommandRefused', context, refused));
    expect(await answering).toMatchObject({ status: 400, body: { code: 'INVALID_ARGS', details } });
  });

  it('a cancel carries its reason, and is answered with the run when it ends at once', async () => {
    const answering = send('cancel', { reason: 'not needed' });
    expect((await gateway.published('CancelRun')).data).toMatchObject({
      principal: { id: 'user:alice' },
      reason: 'not needed',
    });
    await gateway.service.deliver('run.events', message('RunEnded', context, ended));
    expect(await answering).toMatchObject({ status: 200, body: { runId, status: 'cancelled' } });
  });

  it('a cancel that takes its time is accepted', async () => {
    expect(await send('cancel')).toMatchObject({ status: 202, headers: { location: `/v1/runs/${runId}` } });
  });

  it('the same key and content name the same command, other content another one (G7)', async () => {
    const key = { 'idempotency-key': 'k' };
    await Promise.all([send('cancel', {}, key), send('cancel', {}, key), send('cancel', { reason: 'x' }, key)]);
    const ids = await Promise.all(
      [0, 1, 2].map(async (nth) => (await gateway.published('CancelRun', nth)).data.commandId),
    );
    expect(new Set(ids).size).toBe(2);
  });

  it('a resume is accepted when the run says so, and with Prefer: wait answered by its next end', async () => {
    view = { ...open, status: 'budget_exhausted', endedAt: '2026-11-30T11:00:00Z' };
    const budgets = budgetsSchema.parse({ maxTurns: 20 });
    const accepting = send('resume', { budgets: { maxTurns: 20 } });
    const first = await gateway.published('ResumeRun');
    expect(first.data.budgets).toEqual({ maxTurns: 20 });
    const resumed = (commandId: string) => message('RunResumed', context, { commandId, episode: 2, budgets });
    await gateway.service.deliver('run.events', resumed(first.data.commandId));
    expect(await accepting).toMatchObject({ status: 202, body: { runId, status: 'accepted' } });
    const waiting = send('resume', { budgets: { maxTurns: 20 } }, { prefer: 'wait=30' });
    const second = await gateway.published('ResumeRun', 1);
    await gateway.service.deliver('run.events', resumed(second.data.commandId));
    await gateway.service.deliver(
      'run.events',
      message('RunEnded', context, { ...ended, status: 'completed', episode: 2 }),
    );
    expect(await waiting).toMatchObject({
      status: 200,
      body: { status: 'completed', endedAt: '2026-11-30T12:00:00.000Z' },
    });
  });

  it.each([
    ['resume', { budgets: { maxTurns: 0 } }, '/budgets/maxTurns'],
    ['resume', { budgets: { maxFun: 1 } }, '/budgets/maxFun'],
    ['cancel', { reason: 7 }, '/reason'],
    ['cancel', { why: 'x' }, '/why'],
    ['calls', { calls: [{ tool: 'a.b', arguments: {}, dependsOn: [0] }] }, '/calls/0/dependsOn/0'],
  ])('%s with %j is refused at its place, and nothing is sent', async (verb, body, path) => {
    const before = gateway.service.published.length;
    expect(await send(verb, body)).toMatchObject({
      status: 400,
      body: { details: expect.arrayContaining([expect.objectContaining({ path })]) },
    });
    expect(gateway.service.published.length).toBe(before);
  });

  it('another person or tenant finds no run (G12); an operator of the tenant does', async () => {
    for (const as of ['dev.dev.eve.agent', 'dev.other.alice.agent', 'dev.other.olga.operator'])
      expect((await send('cancel', undefined, {}, as)).status).toBe(404);
    expect((await send('cancel', undefined, {}, 'dev.dev.ann.auditor')).status).toBe(403);
    const answering = send('cancel', undefined, {}, 'dev.dev.olga.operator');
    await refuse('CancelRun');
    expect((await answering).status).toBe(409);
  });
});
