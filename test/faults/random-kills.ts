import { setTimeout as pause } from 'node:timers/promises';
import { recovery, type Applied } from './fault-run.ts';
import type { Installation } from './installation.ts';
import type { Load } from './load.ts';
import { strike, type Machinery } from './machinery.ts';
import { COMMITS, cutCommit } from './matrix.ts';

export interface RandomOptions {
  readonly minutes: number;
  readonly seed: number;
  /** A fault each so many milliseconds, if recovery is not slower. */
  readonly everyMs: number;
  readonly machinery: readonly Machinery[];
  readonly say: (line: string) => void;
}

/** Kills, flushes and cuts what chance names (a seed repeats the order, not the instants), one after the other. */
export async function killAtRandom(installation: Installation, load: Load, options: RandomOptions): Promise<Applied[]> {
  const random = chance(options.seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const applied: Applied[] = [];
  const end = performance.now() + options.minutes * 60_000;
  const targets = [
    ...installation.names.map((name) => ({ kind: 'service' as const, name })),
    ...options.machinery.map((part) => ({ kind: 'machinery' as const, part })),
    { kind: 'cut' as const },
  ];
  for (let bag: typeof targets = []; performance.now() < end;) {
    if (bag.length === 0) bag = [...targets]; // each comes up once before any comes up twice
    const target = bag.splice(Math.floor(random() * bag.length), 1)[0]!;
    const since = performance.now();
    await pause(random() * 1_000);
    const one = await apply();
    applied.push(one);
    options.say(`${one.fault} of ${one.target}: ${one.recoveryMs === null ? 'no progress' : `${one.recoveryMs} ms`}`);
    await pause(Math.max(0, options.everyMs - (performance.now() - since)));

    async function apply(): Promise<Applied> {
      if (target.kind === 'cut') return cutCommit(installation, load, pick(COMMITS));
      const at = performance.now();
      if (target.kind === 'service') {
        const pid = installation.pid(target.name);
        if (pid === undefined) return { target: target.name, fault: 'kill -9', reached: false, recoveryMs: null };
        process.kill(pid, 'SIGKILL');
        const recoveryMs = await recovery(installation, load, at, target.name);
        return { target: target.name, fault: 'kill -9', reached: true, recoveryMs };
      }
      const { part } = target;
      return strike(installation, load, part, part.flush !== undefined && random() < 0.5 ? 'flush' : 'kill -9');
    }
  }
  return applied;
}

/** mulberry32 */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
