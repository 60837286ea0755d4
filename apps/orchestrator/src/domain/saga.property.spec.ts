import type { CallProposed } from '#contracts';
import fc from 'fast-check';
import type { Emission } from './saga.types.ts';
import { BUDGETS } from '../../testing/fixtures.ts';
import { World } from '../../testing/world.ts';
import { failuresInARow, repeatsOf, shortDigest } from './limits.ts';
import { isOut, isReplaced, isSettled } from './call-state.ts';
import { budgetsOf, isEnded, type Run } from './run-state.ts';

const SEED = Number(process.env.SAGA_SEED ?? 20_260_102);
const MAX_STEPS = 5_000;

const schedules = fc.record({
  choices: fc.array(fc.nat({ max: 1000 }), { minLength: 60, maxLength: 300 }),
  driver: fc.constantFrom('agent', 'client', 'call'),
  // Some limits are tight, the others as they are by default.
  budgets: fc.record(
    {
      maxTurns: fc.integer({ min: 1, max: 4 }),
      maxCalls: fc.integer({ min: 1, max: 12 }),
      maxParallel: fc.integer({ min: 1, max: 4 }),
      maxInputTokens: fc.constantFrom(50, 400),
      maxOutputTokens: fc.integer({ min: 16, max: 80 }),
      maxCostUsd: fc.constantFrom(0.5, 100),
      allowUnknownCost: fc.boolean(),
      maxResultBytes: fc.constantFrom(5, 60),
      maxRepeats: fc.integer({ min: 1, max: 3 }),
      maxToolFailures: fc.integer({ min: 1, max: 2 }),
      maxCorrections: fc.integer({ min: 0, max: 2 }),
    },
    { requiredKeys: [] },
  ),
});

const own = (said: readonly Emission[], type: string): Emission[] => [
  ...new Map(said.filter((e) => e.type === type).map((e) => [e.id, e])).values(),
];

/**
 * A write is out only when everything before it in its batch is settled; nothing after it is out with it. What names its
 * own dependencies is out only when they have succeeded, and ends without being proposed when one of them did not.
 */
function checkOrder(run: Run): void {
  const { calls } = run.state;
  expect(calls.filter(isOut).length).toBeLessThanOrEqual(budgetsOf(run).maxParallel);
  for (const call of calls) {
    const needs = (call.dependsOn ?? []).map((id) => calls.find((other) => other.callId === id)!);
    const met = needs.every((need) => isSettled(need) && need.status === 'succeeded');
    if (isOut(call) || (isSettled(call) && call.status === 'succeeded')) expect(met).toBe(true);
    if (call.state === 'held' && needs.some((need) => isSettled(need) && need.status !== 'succeeded'))
      expect(isEnded(run)).toBe(true);
  }
  const ordered = calls.filter((call) => !call.dependsOn);
  for (const write of ordered.filter((call) => isOut(call) && call.effectClass === 'call')) {
    const batch = ordered.filter((call) => call.batch === write.batch);
    const at = batch.indexOf(write);
    expect(batch.slice(0, at).every(isSettled)).toBe(true);
    expect(batch.slice(at + 1).some(isOut)).toBe(false);
  }
}

/** Never more than the limits that hold now; what is begun in this step had room before it (L1–L4). */
function checkBudgets({ scene }: World, begun: readonly Emission[]): void {
  const run = scene.run!;
  const { state } = run;
  const budgets = budgetsOf(run);
  const { inputTokens, outputTokens, costUsd, resultBytes, unsentTurns } = state.used;
  const count = (type: string): number => own(scene.said, type).length;
  const edits = own(scene.said, 'CallProposed').filter(({ data }) => (data as CallProposed).edited).length;
  // What a person wrote takes the place of a call that counted.
  expect(count('CallProposed') - edits).toBeLessThanOrEqual(budgets.maxCalls);
  expect(count('RequestTurn') - unsentTurns).toBeLessThanOrEqual(budgets.maxTurns);
  expect(inputTokens).toBeLessThanOrEqual(budgets.maxInputTokens);
  expect(outputTokens).toBeLessThanOrEqual(budgets.maxOutputTokens);
  expect(costUsd).toBeLessThanOrEqual(budgets.allowUnknownCost ? Infinity : budgets.maxCostUsd + 1e-9);
  if (begun.some((e) => e.type === 'RequestTurn')) expect(resultBytes).toBeLessThanOrEqual(budgets.maxResultBytes);
  if (run.definition.driver === 'call') return;
  if (state.control) expect(begun.filter((e) => e.type === 'RequestTurn')).toEqual([]);
  for (const { callId } of begun.filter((e) => e.type === 'CallProposed')) {
    const call = state.calls.find((one) => one.callId === callId)!;
    if (state.control)
      expect([state.control.kind, state.batches[call.batch]!.by]).toEqual(['taken_over', state.control.by]);
    if (!isOut(call) || state.batches[call.batch]!.by !== undefined) continue;
    const { unchanged, out } = repeatsOf(state.calls, shortDigest(call.proposal.argumentsDigest));
    expect(unchanged + out).toBeLessThanOrEqual(budgets.maxRepeats);
    expect(failuresInARow(state.calls, call.tool)).toBeLessThan(budgets.maxToolFailures);
  }
}

const BEGINS = ['CallProposed', 'RequestTurn', 'CallSettled', 'TurnRecorded'];

function checkEnd({ scene }: World): void {
  const { said } = scene;
  const run = scene.run!;
  const ends = own(said, 'RunEnded') as Emission<'RunEnded'>[];
  const episodes = ends.map((_, index) => index + 1);
  expect(ends.map((e) => e.data.episode)).toEqual(episodes);
  expect(own(said, 'RunResumed').map((e) => (e as Emission<'RunResumed'>).data.episode)).toEqual(episodes.slice(1));
  expect(ends.at(-1)!.data).toMatchObject({ callCount: run.state.calls.length });
  ends.forEach((end, index) => {
    const next = said.findIndex(
      (e) => e.type === 'RunResumed' && (e as Emission<'RunResumed'>).data.episode === index + 2,
    );
    const between = said.slice(said.indexOf(end) + 1, next === -1 ? undefined : next);
    expect(between.filter((e) => BEGINS.includes(e.type))).toEqual([]);
    expect(end.data.status === 'completed' || end.data.cause !== null).toBe(true);
    expect(end.data.status === 'budget_exhausted').toBe(end.data.cause?.limit !== undefined);
  });
  const turns = said.filter((e) => e.type === 'TurnRecorded').map((e) => e.id);
  expect(new Set(turns).size).toBe(turns.length);
  const rejected = said.filter((e) => e.type === 'CallSettled').map((e) => e.callId);
  expect(new Set(rejected).size).toBe(rejected.length);
  const proposed = new Set(said.filter((e) => e.type === 'CallProposed').map((e) => e.callId));
  expect(rejected.filter((callId) => proposed.has(callId))).toEqual([]);
  expect(run.state.calls.every((call) => proposed.has(call.callId) !== rejected.includes(call.callId))).toBe(true);
  checkTranscript(run, own(said, 'RequestTurn') as Emission<'RequestTurn'>[]);
}

/** Each proposal of a turn is answered in the next request, once, in order: the transcript stays valid over all episodes. */
function checkTranscript(run: Run, requests: readonly Emission<'RequestTurn'>[]): void {
  const given = requests.flatMap(({ data }) => data.results.map((result) => result.callId));
  const asked = run.state.calls.map((call) => call.callId).filter((callId) => given.includes(callId));
  expect(given).toEqual(asked);
  for (const { data } of requests) {
    const batches = new Set(
      data.results.map(({ callId }) => run.state.calls.find((call) => call.callId === callId)!.batch),
    );
    expect(batches.size).toBeLessThanOrEqual(1);
    for (const batch of batches)
      expect(data.results).toHaveLength(
        run.state.calls.filter((call) => call.batch === batch && !isReplaced(call)).length,
      );
  }
}

describe('any order, repetition and loss of messages, with cancels and resumes (G4, G8, G9)', () => {
  it('every episode ends once, no limit is ever passed, each call is settled at most once by us, and writes stay serial', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(schedules, ({ choices, driver, budgets }) => {
        const world = new World(choices, driver, { ...BUDGETS, ...budgets });
        let steps = 0;
        let said = 0;
        const ids = new Set<string>();
        const check = (): void => {
          const begun = world.scene.said.slice(said).filter(({ id }) => !ids.has(id));
          for (const { id } of begun) ids.add(id);
          said = world.scene.said.length;
          checkOrder(world.scene.run!);
          checkBudgets(world, begun);
        };
        check();
        while (!isEnded(world.scene.run!) || world.resume()) {
          expect(++steps).toBeLessThan(MAX_STEPS);
          if (!isEnded(world.scene.run!)) world.next();
          check();
        }
        // What is still on its way changes nothing that was said.
        for (let n = world.bag.length; n > 0; n--) world.bag.pop()!();
        checkEnd(world);
        for (const { data } of world.scene.all('RunControlled')) reached.add(data.control);
        for (const { data } of world.scene.all('RunEnded')) reached.add(data.cause?.limit ?? data.status);
        for (const call of world.scene.run!.state.calls) if (isSettled(call) && call.limit) reached.add(call.limit);
      }),
      { seed: SEED, numRuns: 400, endOnFailure: true },
    );
    // The schedules reach what they are for.
    const { allowUnknownCost: _permission, maxParallel: _waits, approvalTtlMs: _policys, ...limits } = BUDGETS;
    const ends = ['cancelled', 'completed', 'failed', 'paused', 'taken_over', 'handed_back'];
    expect([...reached].sort()).toEqual([...Object.keys(limits), ...ends].sort());
  });
});
