import fc from 'fast-check';
import type { Emission } from './saga.types.ts';
import { BUDGETS } from '../../testing/fixtures.ts';
import { World } from '../../testing/world.ts';
import { isOut, isSettled, type Run } from './run-state.ts';

const SEED = Number(process.env.SAGA_SEED ?? 20_260_101);
const MAX_STEPS = 5_000;

const schedules = fc.record({
  choices: fc.array(fc.nat({ max: 1000 }), { maxLength: 300 }),
  driver: fc.constantFrom('agent', 'client', 'call'),
  maxTurns: fc.integer({ min: 1, max: 4 }),
  maxCalls: fc.integer({ min: 1, max: 12 }),
  maxParallel: fc.integer({ min: 1, max: 4 }),
});

const own = (said: readonly Emission[], type: string): Emission[] => [
  ...new Map(said.filter((e) => e.type === type).map((e) => [e.id, e])).values(),
];

/** A write is out only when everything before it in its batch is settled; nothing after it is out with it. */
function checkOrder(run: Run): void {
  const { calls } = run.state;
  expect(calls.filter(isOut).length).toBeLessThanOrEqual(run.definition.budgets.maxParallel);
  for (const write of calls.filter((call) => isOut(call) && call.effectClass === 'call')) {
    const batch = calls.filter((call) => call.batch === write.batch);
    const at = batch.indexOf(write);
    expect(batch.slice(0, at).every(isSettled)).toBe(true);
    expect(batch.slice(at + 1).some(isOut)).toBe(false);
  }
}

function checkEnd({ scene }: World): void {
  const { said } = scene;
  const run = scene.run!;
  const ended = said.filter((e) => e.type === 'RunEnded');
  expect(ended).toHaveLength(1);
  expect(ended[0]!.data).toMatchObject({ callCount: run.state.calls.length });
  const after = said.slice(said.indexOf(ended[0]!) + 1);
  expect(after.filter((e) => ['CallProposed', 'RequestTurn', 'CallSettled', 'TurnRecorded'].includes(e.type))).toEqual(
    [],
  );
  const turns = said.filter((e) => e.type === 'TurnRecorded').map((e) => e.id);
  expect(new Set(turns).size).toBe(turns.length);
  const rejected = said.filter((e) => e.type === 'CallSettled').map((e) => e.callId);
  expect(new Set(rejected).size).toBe(rejected.length);
  const proposed = new Set(said.filter((e) => e.type === 'CallProposed').map((e) => e.callId));
  expect(rejected.filter((callId) => proposed.has(callId))).toEqual([]);
  expect(run.state.calls.every((call) => proposed.has(call.callId) !== rejected.includes(call.callId))).toBe(true);
  for (const request of own(said, 'RequestTurn') as Emission<'RequestTurn'>[]) {
    const { turn, results } = request.data;
    const expected = run.state.calls.filter((call) => call.batch === turn - 2).map((call) => call.callId);
    expect(results.map((result) => result.callId)).toEqual(expected);
  }
}

describe('any order, repetition and loss of messages (G4, G8, G9)', () => {
  it('every run ends once, each call is settled at most once by us, and writes stay serial', () => {
    fc.assert(
      fc.property(schedules, ({ choices, driver, maxTurns, maxCalls, maxParallel }) => {
        const world = new World(choices, driver, { ...BUDGETS, maxTurns, maxCalls, maxParallel });
        let steps = 0;
        while (world.scene.run!.state.phase.name !== 'ended') {
          expect(++steps).toBeLessThan(MAX_STEPS);
          world.next();
          checkOrder(world.scene.run!);
        }
        // What is still on its way changes nothing that was said.
        for (let n = world.bag.length; n > 0; n--) world.bag.pop()!();
        checkEnd(world);
      }),
      { seed: SEED, numRuns: 250 },
    );
  });
});
