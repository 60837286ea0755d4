import fc from 'fast-check';
import { isReserved, priced, reserveTurn, type Reservation } from './reserve-turn.ts';

const agent = { name: 'a', provider: 'openai-responses' as const, model: 'model-x', instructions: '' };
const price = { input: 1, output: 10 };
const limits = (maxOutputTokens: number, maxCostUsd: number | null) => ({
  agent,
  limits: { maxOutputTokens, maxCostUsd },
});

describe('a request is reserved before it is sent (G8)', () => {
  it('an answer may be as long as what is left, at most as long as this process allows', () => {
    expect(reserveTurn(limits(100, null), null, 30, 1000)).toMatchObject({
      maxOutputTokens: 100,
      boundBy: 'maxOutputTokens',
    });
    expect(reserveTurn(limits(5000, null), null, 30, 1000)).toMatchObject({ maxOutputTokens: 1000, boundBy: null });
    expect(reserveTurn({ agent }, null, 30, 1000)).toMatchObject({ maxOutputTokens: 1000, boundBy: null });
  });

  it('a model without a price is refused under a limit of cost, and named', () => {
    expect(reserveTurn(limits(100, 5), null, 30, 1000)).toMatchObject({
      limit: 'allowUnknownCost',
      message: expect.stringContaining('model-x'),
    });
    expect(isReserved(reserveTurn(limits(100, null), null, 30, 1000))).toBe(true);
  });

  it('a free model fits into any limit; money that does not reach for an answer is not spent', () => {
    expect(reserveTurn(limits(100, 0), { input: 0, output: 0 }, 30, 1000)).toMatchObject({ maxOutputTokens: 100 });
    expect(reserveTurn(limits(100, 0.0001), price, 30, 1000)).toMatchObject({ limit: 'maxCostUsd' });
    expect(reserveTurn(limits(100_000, 0.01), price, 30, 100_000)).toMatchObject({
      boundBy: 'maxCostUsd',
      maxOutputTokens: 999,
    });
  });

  it('whatever a provider uses of a reservation costs no more than what was left', () => {
    fc.assert(
      fc.property(
        fc.record({
          input: fc.double({ min: 0, max: 100, noNaN: true }),
          output: fc.double({ min: 0, max: 500, noNaN: true }),
        }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.nat(600_000),
        fc.nat(100),
        (price, left, bytes, percent) => {
          const reserved = reserveTurn(limits(50_000, left), price, bytes, 16_384);
          if (!isReserved(reserved)) return;
          const used = {
            inputTokens: reserved.inputTokens,
            outputTokens: Math.floor((reserved.maxOutputTokens * percent) / 100),
          };
          expect(priced(reserved, used).costUsd).toBeLessThanOrEqual(left + 1e-9);
          expect(priced(reserved, { inputTokens: null, outputTokens: null }).costUsd).toBeLessThanOrEqual(left + 1e-9);
        },
      ),
    );
  });

  it('request and answer together stay within what the tenant has reserved; the answer gives way', () => {
    const reserved = (maxTokens: number) => {
      const { agent, limits: own } = limits(100, null);
      return reserveTurn({ agent, limits: { ...own, maxTokens } }, null, 300, 1000);
    };
    expect(reserved(1000)).toMatchObject({ inputTokens: 100, maxOutputTokens: 100, boundBy: 'maxOutputTokens' });
    expect(reserved(150)).toMatchObject({ inputTokens: 100, maxOutputTokens: 50, boundBy: 'tenant' });
    expect(reserved(110)).toEqual({ message: expect.stringContaining('110 tokens') });
  });

  it('without a price the cost is unknown, never zero', () => {
    const reserved = reserveTurn({ agent }, null, 30, 1000) as Reservation;
    expect(priced(reserved, { inputTokens: 1, outputTokens: 1 }).costUsd).toBeNull();
  });
});
