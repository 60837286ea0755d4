import { fillBudgets } from '#contracts';
import { clipTo, readCeiling, refuseAbove } from './budget-ceiling.ts';

describe('what the installation lets a run use (G8)', () => {
  const ceiling = { maxCalls: 10, maxCostUsd: 2, allowUnknownCost: false };

  it('who asks for more is refused with each limit by name; up to it, anything goes', () => {
    expect(() => refuseAbove(ceiling, { maxCalls: 11, maxCostUsd: 3, maxTurns: 200 })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGS',
        message: expect.stringContaining('maxCalls 11 (at most 10), maxCostUsd 3 (at most 2)'),
        details: [
          { path: '/budgets/maxCalls', rule: 'ceiling', allowed: [10] },
          { path: '/budgets/maxCostUsd', rule: 'ceiling', allowed: [2] },
        ],
      }),
    );
    expect(() => refuseAbove(ceiling, { allowUnknownCost: true })).toThrow('allowUnknownCost true (at most false)');
    expect(() => refuseAbove(ceiling, { maxCalls: 10, maxCostUsd: 0, allowUnknownCost: false })).not.toThrow();
    expect(() => refuseAbove(ceiling, undefined)).not.toThrow();
  });

  it('what nobody asked for is clipped, lower limits stay', () => {
    expect(clipTo(ceiling, fillBudgets())).toEqual({ ...fillBudgets(), ...ceiling });
    expect(clipTo(ceiling, fillBudgets({ maxCalls: 3 })).maxCalls).toBe(3);
    expect(clipTo({}, fillBudgets())).toEqual(fillBudgets());
  });

  it.each([
    ['{"maxCalls":0}', 'maxCalls'],
    ['{"maxFun":1}', 'maxFun'],
    ['maxCalls: 3', 'strict JSON'],
  ])('%s is no ceiling, and says why', (text, why) => {
    expect(readCeiling(text)).toEqual({ faults: [expect.stringContaining(why)] });
  });
});
