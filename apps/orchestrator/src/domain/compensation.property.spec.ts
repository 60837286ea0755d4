import fc from 'fast-check';
import { callsDigest } from '#contracts';
import { reconciledData } from '../../../../libs/contracts/testing/unknown-facts.ts';
import { alice, failedData, soughtData } from '../../testing/fixtures.ts';
import { UndoScene } from '../../testing/undoable.ts';
import { isOut, isSettled, type SettledCall } from './call-state.ts';
import { wakeAt } from './timers.ts';
import { backSteps, isCleared, liesUpon, soughtUndos } from './way-back-steps.ts';

const SEED = Number(process.env.SAGA_SEED ?? 20_260_101);
const OUTCOMES = ['ok', 'ok', 'ok', 'failed', 'unknown', 'sought', 'replayed'] as const;
const UNDO_ENDS = ['ok', 'ok', 'ok', 'failed', 'unknown', 'sought', 'late', 'never', 'wait'] as const;

const FOUND = [
  { status: 'succeeded', effect: 'applied' },
  { status: 'failed', effect: 'none' },
  { status: 'needs_human', effect: 'unknown' },
  { status: 'partially_applied', effect: 'partial' },
] as const;

const schedules = fc.record({
  onFailure: fc.constantFrom('keep', 'compensate', 'ask'),
  writes: fc.array(
    fc.record({
      tool: fc.constantFrom('book', 'book', 'book', 'book', 'note', 'lost', 'send'),
      seat: fc.constantFrom('a', 'b', 'c'),
      outcome: fc.constantFrom(...OUTCOMES),
    }),
    { minLength: 1, maxLength: 7 },
  ),
  ends: fc.array(fc.constantFrom(...UNDO_ENDS), { maxLength: 24 }),
  picks: fc.array(fc.nat({ max: 100 }), { maxLength: 60 }),
  maxParallel: fc.integer({ min: 1, max: 3 }),
});

/** C1–C4, whatever is the case. */
function checkRun(scene: UndoScene): void {
  const run = scene.run!;
  const { calls } = run.state;
  const undos = calls.filter((call) => call.effectClass === 'undo');
  for (const undo of undos) {
    const undone = calls.find((call) => call.callId === undo.undoes) as SettledCall;
    expect([undone.status, undone.effect, undone.replayed]).toEqual(['succeeded', 'applied', false]);
    const pivot = calls.findLastIndex((call) => isSettled(call) && call.pivot === true);
    expect(calls.indexOf(undone)).toBeGreaterThan(pivot);
  }
  const steps = backSteps(run);
  steps.forEach((step, at) => {
    if (step.state !== 'out') return;
    const open = steps.slice(0, at).filter((later) => liesUpon(later, step) && !isCleared(later));
    expect(open).toEqual([]);
    const awaited = undos.filter(
      (undo) => undo.undoes === step.callId && (isOut(undo) || soughtUndos(run).includes(undo as SettledCall)),
    );
    expect(awaited.length).toBeGreaterThan(0);
  });
  const keys = new Map<string, string>();
  for (const { data } of scene.all('CallProposed')) {
    if (!data.undoes) continue;
    expect(keys.get(data.undoes.callId) ?? data.operationKey).toBe(data.operationKey);
    keys.set(data.undoes.callId, data.operationKey);
  }
}

describe('any outcome, order, repetition and silence on the way back (C1–C7)', () => {
  it('each round ends, nothing is undone twice or out of turn, and the end counts every call', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(schedules, ({ onFailure, writes, ends, picks, maxParallel }) => {
        const scene = new UndoScene().begin({ onFailure });
        scene.run = {
          ...scene.run!,
          definition: { ...scene.run!.definition, budgets: { ...scene.run!.definition.budgets, maxParallel } },
        };
        const sought: { callId: string; seat: string }[] = [];
        for (const { tool, seat, outcome } of writes) {
          const booked = scene.booked(seat);
          if (outcome === 'failed') scene.write(tool, seat, failedData('failed'));
          else if (outcome === 'sought') {
            sought.push({ callId: scene.write(tool, seat, soughtData()), seat });
          } else if (outcome === 'unknown') scene.write(tool, seat, failedData('outcome_unknown', 'OUTCOME_UNKNOWN'));
          else scene.write(tool, seat, { ...booked, replayed: outcome === 'replayed' });
        }
        scene.finish();
        const pick = (below: number): number => (picks.shift() ?? 0) % below;
        const late: (() => void)[] = [];
        const settled = new Set<string>();
        let rounds = 0;
        for (let n = 0; n < 500; n++) {
          checkRun(scene);
          const { phase } = scene.run!.state;
          if (phase.name === 'asking') {
            const decision = pick(3) === 0 ? 'keep' : 'compensate';
            scene.compensate(`said-${n}`, { decision });
            reached.add(decision);
          } else if (phase.name === 'ended') {
            late.splice(0).forEach((come) => come());
            checkRun(scene);
            if (++rounds > 3) break;
            const before = scene.said.length;
            const again = [...Array<number>(2)].flatMap(() => scene.compensate(`round-${rounds}`));
            expect(new Set(again.filter((e) => e.type === 'CompensationStarted').map((e) => e.id)).size).toBeLessThan(
              2,
            );
            if (scene.said.slice(before).every((e) => e.type === 'CommandRefused')) break;
          } else {
            if (sought.length > 0 && pick(3) > 0) {
              const { callId, seat } = sought.splice(pick(sought.length), 1)[0]!;
              const found = FOUND[pick(FOUND.length)]!;
              const result = found.status === 'succeeded' ? scene.booked(seat).result! : null;
              const data = reconciledData({ ...found, result });
              const about = { callId, from: { kind: 'pool', pool: 'default' } };
              for (let n = 0; n < 2; n++) scene.say('CallReconciled', data, about);
              continue;
            }
            const out = [...scene.undos().values()].filter((id) => !settled.has(id));
            if (pick(12) === 11) {
              scene.say('CancelRun', { commandId: `cancel-${n}`, principal: alice });
              reached.add('cancel');
              continue;
            }
            const callId = out[pick(Math.max(1, out.length))];
            const end = callId === undefined ? 'never' : (ends.shift() ?? 'ok');
            reached.add(end);
            if (callId !== undefined && end !== 'never' && end !== 'wait') {
              settled.add(callId);
              const data =
                end === 'failed'
                  ? failedData('failed')
                  : end === 'sought'
                    ? soughtData()
                    : end === 'unknown'
                      ? failedData('outcome_unknown', 'OUTCOME_UNKNOWN')
                      : { effect: 'applied' as const };
              const come = (): void => [0, 1].forEach(() => scene.settle(callId, data));
              if (end === 'sought') sought.push({ callId, seat: 'undo' });
              if (end === 'late') late.push(come);
              else come();
            } else {
              const wake = wakeAt(scene.run!);
              expect(wake).not.toBeNull();
              scene.wake(Math.max(wake!, scene.now));
            }
          }
        }
        expect(scene.run!.state.phase.name).toBe('ended');
        expect(wakeAt(scene.run!)).toBeNull();
        const last = scene.all('RunEnded').at(-1)!.data;
        const callIds = scene.run!.state.calls.map((call) => call.callId);
        expect([last.callCount, last.callsDigest]).toEqual([callIds.length, callsDigest(callIds)]);
        const begun = new Set(scene.all('CompensationStarted').map(({ data }) => data.round));
        expect(scene.all('CompensationEnded').map(({ data }) => data.round)).toEqual([...begun]);
        const episodes = [...new Set(scene.all('RunEnded').map(({ data }) => data.episode))];
        expect(episodes).toEqual(episodes.map((_, index) => index + 1));
        for (const { data } of scene.all('CompensationEnded')) {
          reached.add(data.status);
          data.remainder.forEach(({ reason }) => reached.add(reason));
        }
      }),
      { seed: SEED, numRuns: 200, endOnFailure: true },
    );
    expect([...reached].sort()).toEqual(
      [
        ...new Set<string>(UNDO_ENDS),
        ...['keep', 'compensate', 'cancel', 'done', 'partial'],
        ...[
          'undo_failed',
          'known_later',
          'undo_unknown',
          'undo_unanswered',
          'outcome_unknown',
          'partially_applied',
          'blocked',
          'cancelled',
        ],
      ].sort(),
    );
  });
});
