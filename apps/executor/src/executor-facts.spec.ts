import type { CallFacts } from '#contracts';
import { digestJson } from '#kernel';
import { answered, grant, openExecutor, tool, type Executor } from '../testing/executor-rig.ts';

const of = tool({
  facts: {
    tool: 'desk.look',
    arguments: {},
    values: { resourceVersion: '/version' },
    versionPlace: { argument: 'version' },
  },
});
const facts: CallFacts = {
  callId: 'call_01hzzzzzzz0000000000000000_0009',
  contractDigest: `sha256:${'a'.repeat(64)}`,
  values: { resourceVersion: 'v1' },
};
const claims = { factsDigest: digestJson('facts/v1', facts) };

describe('a call that was judged by facts, at the executor', () => {
  let executor: Executor;
  beforeAll(async () => {
    executor = await openExecutor({ run: () => answered({ id: 'T-1' }) });
  });
  afterAll(() => executor.close());
  beforeEach(() => {
    executor.attempts.length = 0;
  });

  it('G3 is sent with the version that was judged', async () => {
    const granted = grant({ of, claims, data: { facts } });
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({ status: 'succeeded' });
    expect(executor.attempts.map(({ version }) => version)).toEqual(['v1']);
  });

  it.each([
    ['with another version', claims, { facts: { ...facts, values: { resourceVersion: 'v2' } } }],
    ['with facts that were taken away', claims, {}],
    ['with facts that nobody signed', {}, { facts }],
    ['without facts at all', {}, {}],
  ])('G2 G3 %s than was granted is refused, and nothing is sent', async (_name, signed, data) => {
    const granted = grant({ of, claims: signed, data });
    await executor.deliverGrants(granted);
    expect(executor.messagesOf('GrantRefused').some(({ callId }) => callId === granted.callId)).toBe(true);
    expect(executor.settlements(granted.callId!)).toEqual([]);
    expect(executor.attempts).toEqual([]);
  });
});
