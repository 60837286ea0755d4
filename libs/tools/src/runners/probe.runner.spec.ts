import type { Reconcile } from '#contracts';
import { sampleWrite } from '../../testing/sample-contract.ts';
import { classifyProbe, probeLocal, type ProbeAnswer } from './probe.runner.ts';

const http: NonNullable<Reconcile['http']> = {
  url: 'http://ledger/{operationKey}',
  applied: { pointer: '/state', values: ['done'] },
  notApplied: { status: [404] },
  partly: { pointer: '/state', values: ['partly'] },
  result: '/entry',
  items: '/items',
};
const answer = (status: number, body?: unknown) => ({
  status,
  body: body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  tooLarge: false,
});

describe('what the answer of a probe means (G5)', () => {
  it.each([
    ['the mapped value', answer(200, { state: 'done' }), 'applied'],
    ['the mapped status', answer(404), 'not_applied'],
    ['the mapped value for a part', answer(200, { state: 'partly', items: [1, 2] }), 'partly'],
    ['another value', answer(200, { state: 'pending' }), 'cannot_tell'],
    ['the right value with a status that is no success', answer(500, { state: 'done' }), 'cannot_tell'],
    ['a status that nobody mapped', answer(410), 'cannot_tell'],
    ['no JSON', answer(200, '<done>'), 'cannot_tell'],
    ['nothing', answer(200), 'cannot_tell'],
  ])('%s', (_what, given, kind) => {
    expect(classifyProbe(http, given).kind).toBe(kind);
  });

  it('more than one rule that fits tells nothing', () => {
    const both = { ...http, notApplied: { status: [200] } };
    expect(classifyProbe(both, answer(200, { state: 'done' }))).toMatchObject({ kind: 'cannot_tell' });
  });

  it('the result is taken from where the contract says; the evidence holds nothing of the answer', () => {
    const found = classifyProbe(http, answer(200, { state: 'done', entry: { id: 'secret-7' } }));
    expect(found).toMatchObject({ kind: 'applied', value: { id: 'secret-7' } });
    expect(found.evidence).not.toContain('secret');
  });

  it.each([
    ['an outcome', async () => ({ outcome: 'applied', result: { id: 1 } }) as ProbeAnswer, 'applied'],
    ['a throw', () => Promise.reject(new Error('secret')), 'cannot_tell'],
    ['another form', async () => 'yes' as unknown as ProbeAnswer, 'cannot_tell'],
    ['silence', () => new Promise<ProbeAnswer>(() => undefined), 'cannot_tell'],
  ])('a function of the tool: %s', async (_what, probe, kind) => {
    const contract = { ...sampleWrite().contract, reconcile: { timeoutMs: 20 } as Reconcile };
    const about = { digest: 'd', arguments: {}, operationKey: 'k', callId: 'c', tenant: 'dev' };
    const found = await probeLocal(probe, { contract, ...about, signal: new AbortController().signal }, {});
    expect(found.kind).toBe(kind);
    expect(found.evidence).not.toContain('secret');
  });
});
