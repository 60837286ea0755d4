import { callIdOf, newId } from '#kernel';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';

const RUN = newId('run');
const [CALL, UNDO, OTHER] = [callIdOf(RUN, 1), callIdOf(RUN, 12), callIdOf(RUN, 2)];
const record = (name: string, ms: number, data: object, subject = CALL) => ({
  type: `dev.countersign.${name}.v1`,
  time: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
  subject,
  data: { trace_id: null, tool: 'desk.close@1.0.0', principal: 'user:alice', idempotency_key_hash: 'h', ...data },
});
const RECORDS = [
  record('run.ended', 90, { status: 'failed' }, RUN),
  record('compensation.ended', 80, { status: 'done', round: 1, undone: [CALL, OTHER] }, RUN),
  record('call.settled', 70, { status: 'succeeded', undoes: CALL, attempts: 1 }, UNDO),
  record('call.settled', 65, { status: 'succeeded', undoes: OTHER }, callIdOf(RUN, 13)),
  record('compensation.started', 60, { round: 1, principal: 'user:olga', leftovers: [`${CALL}:retry`] }, RUN),
  record('call.settled', 30, { status: 'succeeded', effect: 'applied', attempts: 2, decision_no: 2, replayed: false }),
  record('call.decided', 20, {
    decision_no: 2,
    reasons: ['approved'],
    policy_digest: 'sha256:1',
    approval_id: 'appr_1',
  }),
  record('approval.decided', 20, {
    approval_id: 'appr_1',
    answer: 'approved',
    approver: 'user:bob',
    approval_digest: 'd',
  }),
  record('approval.requested', 10, { decision_no: 1, approval_id: 'appr_1', reasons: [], requester: 'user:alice' }),
];

describe('the life of a call', () => {
  let gateway: HttpGateway;
  let asked: object[] = [];
  beforeAll(async () => {
    gateway = await openGateway({
      reads: {
        'state-store.call': ({ tenant, callId }: { tenant: string; callId: string }) =>
          tenant === 'dev' && callId === CALL
            ? {
                tenant,
                callId,
                runId: RUN,
                principal: 'user:alice',
                status: 'compensated',
                firstSeen: '2026-01-01T00:00:00.000Z',
              }
            : null,
        'orchestrator.run': () => null,
        'telemetry.callHistory': (question: object) => {
          asked.push(question);
          return { items: RECORDS, truncated: false };
        },
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    asked = [];
  });
  const history = (token?: string) =>
    gateway.request('GET', `/v1/calls/${CALL}/history`, token ? { headers: { authorization: `Bearer ${token}` } } : {});

  it('is told in order, with numbers and codes, of this call alone', async () => {
    const { status, body } = await history();
    expect(status).toBe(200);
    const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    expect(body).toEqual({
      callId: CALL,
      runId: RUN,
      status: 'compensated',
      truncated: false,
      items: [
        { at: at(0), what: 'proposed' },
        { at: at(10), what: 'asked', decisionNo: 1, approvalId: 'appr_1' },
        { at: at(20), what: 'approval_decided', approvalId: 'appr_1', answer: 'approved', by: 'user:bob' },
        {
          at: at(20),
          what: 'allowed',
          decisionNo: 2,
          policyDigest: 'sha256:1',
          reasons: ['approved'],
          approvalId: 'appr_1',
        },
        { at: at(30), what: 'settled', decisionNo: 2, status: 'succeeded', effect: 'applied', attempts: 2 },
        { at: at(60), what: 'way_back_began', outcome: 'retry', round: 1, by: 'user:olga' },
        { at: at(70), what: 'undo_settled', undo: UNDO, status: 'succeeded', attempts: 1 },
        { at: at(80), what: 'way_back_ended', outcome: 'undone', round: 1 },
      ],
    });
    expect(asked).toEqual([{ tenant: 'dev', callId: CALL, limit: 200 }]);
  });

  it('is shown to whoever may see the call, and to nobody else: nothing is looked up for them (G12)', async () => {
    expect((await history('dev.dev.olga.operator')).status).toBe(200);
    asked = [];
    expect((await history('dev.dev.mallory.agent')).status).toBe(404);
    expect((await history('dev.else.olga.operator')).status).toBe(404);
    expect((await gateway.request('GET', `/v1/calls/${OTHER}/history`)).status).toBe(404);
    expect((await gateway.request('GET', `/v1/calls/${CALL}/history?x=1`)).status).toBe(400);
    expect(asked).toEqual([]);
  });
});
