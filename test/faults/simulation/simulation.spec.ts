import { runSchedules } from './run-schedules.ts';

/** `FAULT_SCHEDULES` and `FAULT_SEED` play more, or others; a failure prints its seed and the smallest schedule. */
const schedules = Number(process.env.FAULT_SCHEDULES ?? 3_000);
const seed = Number(process.env.FAULT_SEED ?? 20_260_101);

describe('saga, policy and journal on a bus that loses, repeats and reorders, with executors that die and stop', () => {
  it(`${schedules} schedules: one settlement a call, none lost, one effect a key, every run ends, every outcome is honest (G4, G5, G7, G8, G9)`, () => {
    const { reached } = runSchedules({ schedules, seed });
    // The schedules reach what they are for.
    expect(Object.keys(reached)).toEqual(
      expect.arrayContaining(['succeeded', 'failed', 'outcome_unknown', 'denied', 'expired', 'cancelled']),
    );
  }, 240_000);
});
