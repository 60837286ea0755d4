import { RateLimit } from './rate-limit.ts';

describe('the rate of a caller', () => {
  const refused = (limit: RateLimit, caller: string): unknown => {
    try {
      limit.take(caller);
      return null;
    } catch (error) {
      return error;
    }
  };

  it('a burst passes, then as many as the rate lets through; others are not touched', () => {
    let now = 0;
    const limit = new RateLimit(2, 3, () => now);
    for (let i = 0; i < 3; i++) limit.take('a');
    expect(refused(limit, 'a')).toMatchObject({
      status: 429,
      code: 'RATE_LIMITED',
      headers: { 'retry-after': '1', ratelimit: '"caller";r=0;t=1', 'ratelimit-policy': '"caller";q=3;w=2' },
    });
    limit.take('b');
    now = 500;
    limit.take('a');
    expect(refused(limit, 'a')).toMatchObject({ status: 429 });
  });

  it('is not saved up beyond the burst, and says how long a slow one takes', () => {
    let now = 0;
    const limit = new RateLimit(0.1, 2, () => now);
    now = 3_600_000;
    limit.take('a');
    limit.take('a');
    expect(refused(limit, 'a')).toMatchObject({ headers: { 'retry-after': '10' } });
  });
});
