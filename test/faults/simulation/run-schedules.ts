import fc from 'fast-check';
import { faultsOf } from './invariants.ts';
import { Ring } from './ring.ts';

const MAX_STEPS = 20_000;

export interface Simulated {
  readonly seed: number;
  readonly schedules: number;
  readonly steps: number;
  /** What the schedules reached: statuses of calls, ends of runs. */
  readonly reached: Readonly<Record<string, number>>;
}

const schedule = fc.record({
  driver: fc.constantFrom('agent' as const, 'client' as const, 'call' as const),
  choices: fc.array(fc.nat({ max: 997 }), { minLength: 40, maxLength: 400 }),
});

/**
 * Plays seeded schedules of loss, repetition, reordering, deaths and pauses over the pure machines.
 * @throws Error with the seed and the smallest schedule that breaks an invariant
 */
export function runSchedules({ schedules, seed }: { schedules: number; seed: number }): Simulated {
  const reached: Record<string, number> = {};
  const count = (name: string): void => void (reached[name] = (reached[name] ?? 0) + 1);
  let steps = 0;
  fc.assert(
    fc.property(schedule, ({ driver, choices }) => {
      const ring = new Ring(choices, driver);
      let own = 0;
      while (!ring.quiet) {
        if (++own > MAX_STEPS)
          throw new Error(`stuck (G8): the run is ${ring.run?.state.phase.name} after ${own} steps`);
        ring.next();
      }
      steps += own;
      const faults = faultsOf(ring);
      if (faults.length > 0) throw new Error(faults.join('\n'));
      for (const call of ring.run!.state.calls) count(call.state === 'settled' ? call.status : 'out');
      const { phase } = ring.run!.state;
      count(phase.name === 'ended' ? `run ${phase.end.status}, ${phase.outcome}` : phase.name);
    }),
    { numRuns: schedules, seed, includeErrorInReport: true },
  );
  return { seed, schedules, steps, reached };
}
