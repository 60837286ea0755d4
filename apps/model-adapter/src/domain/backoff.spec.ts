import { backoffMs } from './backoff.ts';

describe('waiting between attempts', () => {
  it('has full jitter under a ceiling that doubles up to its cap', () => {
    expect([1, 2, 3, 9].map((attempt) => backoffMs(attempt, null, 0.5))).toEqual([250, 500, 1000, 4000]);
    expect(backoffMs(5, null, 0)).toBe(0);
  });
  it('is never shorter than what the provider asked for', () => {
    expect(backoffMs(1, 2000, 0)).toBe(2000);
    expect(backoffMs(1, 2000, 0.999)).toBeGreaterThan(2000);
  });
});
