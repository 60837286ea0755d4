import { Scene, types } from '../../testing/scene.ts';
import { step } from './saga.table.ts';
import type { Emission, Input } from './saga.types.ts';
import { statusOf } from './run-state.ts';
import { wakeAt } from './timers.ts';
import { SHELF } from '../../testing/fixtures.ts';

/** A scene whose tenant may be suspended. */
class Suspendable extends Scene {
  suspended: ReadonlySet<string> = new Set();
  override give(input: Input): Emission[] {
    const next = step(this.run, input, { now: this.now, contracts: SHELF, suspended: this.suspended });
    this.run = next.run;
    this.said.push(...next.out);
    return [...next.out];
  }
}

describe('a run of a suspended tenant (S7)', () => {
  it('begins no call and no turn, loses no time, and goes on by its own timer once the suspension is lifted', () => {
    const scene = new Suspendable();
    scene.start('agent');
    scene.suspended = new Set(['dev']);
    expect(types(scene.turn(1, ['ops.set_flag', { name: 'a' }]))).not.toContain('CallProposed');
    const { leftMs } = scene.run!.state.clock;
    for (let look = 0; look < 50; look++) expect(types(scene.wake(wakeAt(scene.run!)!))).toEqual([]);
    scene.now += 86_400_000;
    expect(scene.run!.state.clock).toEqual({ leftMs, since: null });
    scene.suspended = new Set(['other']);
    expect(types(scene.wake(scene.now))).toEqual(['CallProposed']);
    expect(scene.run!.state.clock).toEqual({ leftMs, since: scene.now });
  });

  it('what was out comes to its end; the model is asked when the suspension is lifted', () => {
    const scene = new Suspendable();
    scene.start('agent');
    const [proposed] = scene.turn(1, ['ops.set_flag', { name: 'a' }]).filter(({ type }) => type === 'CallProposed');
    scene.suspended = new Set(['dev']);
    expect(types(scene.settle(proposed!.callId!))).toEqual([]);
    expect(scene.call(proposed!.callId!)).toMatchObject({ state: 'settled', status: 'succeeded' });
    scene.suspended = new Set();
    expect(types(scene.wake(wakeAt(scene.run!)!))).toContain('RequestTurn');
  });

  it('can be cancelled all the same', () => {
    const scene = new Suspendable();
    scene.start('agent');
    scene.suspended = new Set(['dev']);
    scene.turn(1, ['ops.set_flag', { name: 'a' }]);
    scene.cancel();
    expect(statusOf(scene.run!.state)).toBe('cancelled');
  });
});
