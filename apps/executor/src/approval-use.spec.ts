import { newId } from '#kernel';
import { grant, newCallId, openExecutor, tool, until, type Executor } from '../testing/executor-rig.ts';

describe('an approval is consumed by the commit of the intent (G3)', () => {
  let first: Executor;
  let second: Executor;
  beforeAll(async () => {
    first = await openExecutor();
    second = await openExecutor({ url: first.url });
  });
  afterAll(async () => {
    await second.close();
    await first.close();
  });
  const attemptsOf = (...callIds: string[]) =>
    [...first.attempts, ...second.attempts].filter((attempt) => callIds.includes(attempt.callId));

  it('two executors that race with grants of one approval give one effect', async () => {
    const none = tool({ name: 'send_letter', idempotency: { mode: 'none' } });
    for (let round = 0; round < 10; round++) {
      const approvalId = newId('appr');
      const [a, b] = [newCallId(), newCallId()];
      await Promise.all([
        first.deliverGrants(grant({ of: none, callId: a, claims: { approvalId } })),
        second.deliverGrants(grant({ of: none, callId: b, claims: { approvalId } })),
      ]);
      const settled = () => [first, second].flatMap((one) => [...one.settlements(a), ...one.settlements(b)]);
      const refused = () =>
        [first, second]
          .flatMap((one) => one.messagesOf('GrantRefused'))
          .filter(({ callId }) => [a, b].includes(callId!));
      await until(() => settled().length + refused().length >= 2);
      expect(attemptsOf(a, b)).toHaveLength(1);
      expect(settled().filter(({ status }) => status === 'succeeded')).toHaveLength(1);
    }
  });

  it('the same grant at two executors at once is one effect and one record', async () => {
    for (let round = 0; round < 10; round++) {
      const granted = grant({ claims: { approvalId: newId('appr') } });
      await Promise.all([first, second].map((one) => one.deliverGrants(granted)));
      const settled = () => [first, second].flatMap((one) => one.settlements(granted.callId!));
      await until(() => settled().length > 0);
      await Promise.all([first.settle(), second.settle()]);
      expect(attemptsOf(granted.callId!)).toHaveLength(1);
      expect(new Set(settled().map((one) => JSON.stringify(one))).size).toBe(1);
    }
  });
});
