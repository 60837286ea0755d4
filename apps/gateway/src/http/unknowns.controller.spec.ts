import { message, type CallReconciled, type Message } from '#contracts';
import { reconciledData } from '../../../../libs/contracts/testing/unknown-facts.ts';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

const runId = `run_${'0'.repeat(26)}`;
const callId = `call_${'0'.repeat(26)}_0001`;
const unknown = {
  callId,
  runId,
  tenant: 'dev',
  principal: 'user:alice',
  tool: 'ops.write@1.0.0',
  status: 'outcome_unknown',
  effect: 'unknown',
  error: { code: 'OUTCOME_UNKNOWN', message: 'nobody knows', retryable: false, humanTakeover: true },
  errorCode: 'OUTCOME_UNKNOWN',
  result: null,
};

describe('unknown outcomes over HTTP', () => {
  let gateway: HttpGateway;
  let view: Record<string, unknown>;
  let asked: unknown[] = [];
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'state-store.call': ({ tenant }: { tenant: string }) => (tenant === 'dev' ? view : null),
        'orchestrator.run': () => null,
        'state-store.unknowns': (args: never) => {
          asked.push(args);
          return { items: [{ ...unknown, since: null, ageMs: 5, needsHuman: true }], next: null };
        },
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    view = unknown;
    asked = [];
    gateway.forget();
  });
  const body = { resolution: 'applied', evidence: 'the ticket is there' };
  const resolve = (own: object = {}, as = 'dev.dev.olga.operator', headers = {}) =>
    gateway.request('POST', `/v1/calls/${callId}/resolve`, { as, headers, body: { ...body, ...own } });
  const answer = async (own: (command: Message<'ResolveCall'>) => Partial<CallReconciled>): Promise<void> => {
    const command = await gateway.published('ResolveCall');
    const data = reconciledData({ commandId: command.data.commandId, ...own(command) });
    const { amendment, status, effect, evidence, commandId } = data;
    view = { ...unknown, status, effect, error: data.error, reconciliation: { amendment, commandId, evidence } };
    await gateway.service.deliver(
      'call.settled.default',
      message('CallReconciled', { tenant: 'dev', runId, callId, now: 0 }, data),
    );
  };

  it('the queue is for operators, auditors and administrators, of the own tenant', async () => {
    const { body: page } = await gateway.request('GET', '/v1/unknowns?limit=5', { as: 'dev.dev.ann.auditor' });
    expect(page).toMatchObject({ items: [{ callId, needsHuman: true, ageMs: 5 }], next: null });
    expect(JSON.stringify(page)).not.toContain('tenant');
    expect(asked).toEqual([{ tenant: 'dev', limit: 5 }]);
    expect((await gateway.request('GET', '/v1/unknowns')).status).toBe(403);
  });

  it('a resolution is a command with the words of the person, and answers the call as it is then', async () => {
    const [answered] = await Promise.all([resolve({ result: { id: 1 } }), answer(() => ({}))]);
    expect(await gateway.published('ResolveCall')).toMatchObject({
      tenant: 'dev',
      runId,
      data: { callId, ...body, result: { id: 1 }, principal: { id: 'user:olga', roles: ['operator'] } },
    });
    expect(answered).toMatchObject({ status: 200, body: { callId, status: 'succeeded', result: { ok: true } } });
    expect(answered.body.reconciliation).toMatchObject({ evidence: 'the ticket is there' });
  });

  it('the same key and content is the same command', async () => {
    const key = { 'idempotency-key': 'k-1' };
    await Promise.all([resolve({}, undefined, key), answer(() => ({}))]);
    const first = await gateway.published('ResolveCall');
    gateway.forget();
    await Promise.all([resolve({}, undefined, key), answer(() => ({}))]);
    expect((await gateway.published('ResolveCall')).data.commandId).toBe(first.data.commandId);
  });

  it('who comes second is told what stands: 409 with the call', async () => {
    const [late] = await Promise.all([
      resolve({ resolution: 'not_applied' }),
      answer(() => ({ commandId: null, reconciledBy: 'probe', principal: null })),
    ]);
    expect(late).toMatchObject({ status: 409, body: { call: { callId, status: 'succeeded' } } });
  });

  it('with four eyes the first word leaves the call to a second person', async () => {
    const [first] = await Promise.all([
      resolve(),
      answer(() => ({ status: 'needs_human', effect: 'unknown', proposed: 'applied', result: null })),
    ]);
    expect(first).toMatchObject({ status: 200, body: { status: 'needs_human' } });
  });

  it('a call that is not unknown is a conflict that names its state', async () => {
    const refused = async () => {
      const command = await gateway.published('ResolveCall');
      await gateway.service.deliver(
        'run.events',
        message(
          'CommandRefused',
          { tenant: 'dev', runId, now: 0 },
          {
            commandId: command.data.commandId,
            code: 'INVALID_ARGS',
            message: 'Only a call whose outcome is unknown is resolved; this one is "failed"',
          },
        ),
      );
    };
    const [answered] = await Promise.all([resolve(), refused()]);
    expect(answered).toMatchObject({ status: 409, body: { detail: expect.stringContaining('"failed"') } });
  });

  it('G12 roles, foreign tenants and bad bodies are refused before anything is sent', async () => {
    expect((await resolve({}, 'dev.dev.alice.agent')).status).toBe(403);
    expect((await resolve({}, 'dev.other.olga.operator')).status).toBe(404);
    for (const own of [{ evidence: '  ' }, { evidence: 'x'.repeat(4001) }, { resolution: 'maybe' }, { more: 1 }])
      expect(await resolve(own)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGS' } });
    expect(gateway.service.published.filter((p) => p.message.type === 'ResolveCall').length).toBeLessThan(10);
  });
});
