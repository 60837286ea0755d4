import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessName } from '../../apps/cli/src/supervisor/service-process.ts';
import { isClean, judge, type Verdict } from './checker.ts';
import { gatherEvidence } from './gather-evidence.ts';
import type { Installation } from './installation.ts';
import { Load } from './load.ts';

/** One fault that was applied, and how long it took until something that was begun after it was settled. */
export interface Applied {
  readonly target: string;
  readonly fault: string;
  /** False: the place was not reached in time, so nothing was stopped there. */
  readonly reached: boolean;
  readonly recoveryMs: number | null;
}

export interface FaultReport extends Omit<Verdict, 'faults'> {
  readonly mode: Installation['mode'];
  readonly kills: number;
  readonly recoveryMsP50: number | null;
  readonly recoveryMsMax: number | null;
  readonly minutes: number;
  readonly notReached: readonly string[];
  readonly faults: readonly string[];
  readonly applied: readonly Applied[];
  readonly clean: boolean;
}

/** After the last fault, all that was acknowledged must be settled within this time. */
export const QUIET_MS = 60_000;
const PROGRESS_MS = 60_000;
const LOOK_MS = 50;

export async function waitFor(look: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; !look(); await pause(LOOK_MS)) if (performance.now() > end) return false;
  return true;
}

/** Milliseconds from the fault until its process is ready again and something begun after the fault is settled. */
export async function recovery(
  installation: Installation,
  load: Load,
  since: number,
  name: ProcessName | null,
): Promise<number | null> {
  const ready = (): number | null =>
    name === null ? since : (installation.readyAt.get(name)?.find((at) => at > since) ?? null);
  const over = await waitFor(() => ready() !== null && load.firstProgress(since) !== null, PROGRESS_MS);
  return over ? Math.round(Math.max(ready()!, load.firstProgress(since)!) - since) : null;
}

/** Plays faults under load, waits for quiet, and judges. */
export async function faultRun(
  installation: Installation,
  play: (load: Load) => Promise<Applied[]>,
  options: { readonly workers: number; readonly restMs?: number },
): Promise<FaultReport> {
  const began = performance.now();
  const load = new Load({ gateway: installation.gateway, prefix: `f${Date.now().toString(36)}`, ...options });
  load.start();
  const applied = await play(load);
  await load.finish(QUIET_MS);
  const verdict = judge(await gatherEvidence(installation, load));
  const reached = applied.filter((one) => one.reached);
  const times = reached.flatMap(({ recoveryMs }) => (recoveryMs === null ? [] : [recoveryMs])).sort((a, b) => a - b);
  const silent = reached.filter(({ recoveryMs }) => recoveryMs === null);
  const faults = [
    ...verdict.faults,
    ...silent.map(({ target, fault }) => `stuck: no progress after ${fault} of ${target}`),
  ];
  return {
    ...verdict,
    mode: installation.mode,
    kills: reached.length,
    stuck: verdict.stuck + silent.length,
    recoveryMsP50: times[Math.floor(times.length / 2)] ?? null,
    recoveryMsMax: times.at(-1) ?? null,
    minutes: Math.round((performance.now() - began) / 6_000) / 10,
    notReached: applied.filter((one) => !one.reached).map(({ target, fault }) => `${target} ${fault}`),
    faults,
    applied,
    clean: isClean(verdict) && silent.length === 0,
  };
}
