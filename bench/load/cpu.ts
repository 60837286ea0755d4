import { readdirSync, readFileSync } from 'node:fs';

/** sysconf(_SC_CLK_TCK) on Linux. */
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  readonly parent: number;
  readonly ticks: number;
}

function readStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from field 3 of proc(5) on
    return { parent: Number(fields[1]), ticks: [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0) };
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** CPU seconds (user and system) of these processes and all their descendants. Linux only. */
export function cpuSeconds(roots: readonly number[]): number {
  const stats = new Map<number, ProcessStat>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    if (stat) stats.set(Number(name), stat);
  }
  const members = new Set(roots);
  for (let grew = true; grew;) {
    grew = false;
    for (const [pid, { parent }] of stats) {
      if (members.has(parent) && !members.has(pid)) {
        members.add(pid);
        grew = true;
      }
    }
  }
  let ticks = 0;
  for (const pid of members) ticks += stats.get(pid)?.ticks ?? 0;
  return ticks / TICKS_PER_SECOND;
}
