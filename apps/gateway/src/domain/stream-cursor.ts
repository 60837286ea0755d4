import { runPart } from '#kernel';

/**
 * What a watcher has been told of a run: the `id` of each event holds all of it, so that any process can go on from
 * there, by comparing it with stored state.
 *
 * K1 an id depends on what was told, never on who told it or in what order;
 * K2 an id belongs to one run, and one that is not of this run or not of this form is refused;
 * K3 what was told is kept by subject: the run's phase, its turns, each call's and approval's step. They are written
 *    short: numbered calls by number, others by 40 bits of their ids.
 */
export interface Told {
  /** As of RunProgress; 0 = nothing. */
  phase: number;
  turns: number;
  /** Orders of people; only the last one is told. */
  controls: number;
  /** Short name of a call → the step that was told. */
  readonly calls: Map<string, number>;
  /** The same of approvals. */
  readonly approvals: Map<string, number>;
}

export const nothingTold = (): Told => ({ phase: 0, turns: 0, controls: 0, calls: new Map(), approvals: new Map() });

const NUMBERED = /^\d{4,6}$/;
const HASHED_CHARS = 8;

/** The call's name within its run. */
export function shortCall(callId: string): string {
  const own = callId.slice('call_'.length + 27);
  return NUMBERED.test(own) ? Number(own).toString(36) : own.slice(0, HASHED_CHARS);
}

export const shortApproval = (approvalId: string): string => approvalId.slice(-HASHED_CHARS);

const runTag = (runId: string): string => runPart(runId).slice(-6);
const base36 = (value: number): string => value.toString(36);

/** `1.<run>.<phase>.<turns>.<calls>.<approvals>[.<controls>]`; calls and approvals are `<step>:<name>,<name>;<step>:…` */
export function encodeTold(runId: string, { phase, turns, controls, calls, approvals }: Told): string {
  const parts = ['1', runTag(runId), base36(phase), base36(turns), bySteps(calls), bySteps(approvals)];
  return [...parts, ...(controls > 0 ? [base36(controls)] : [])].join('.');
}

const bySteps = (told: ReadonlyMap<string, number>): string =>
  [...Map.groupBy(told, ([, step]) => step)]
    .sort(([a], [b]) => a - b)
    .map(([step, entries]) => `${base36(step)}:${ranges(entries.map(([name]) => name)).join(',')}`)
    .join(';');

/** Numbers that follow each other as `first-last`; other names as they are. Sorted, by K1. */
function ranges(names: readonly string[]): string[] {
  const hashed = names.filter((name) => name.length === HASHED_CHARS).sort();
  const numbers = names
    .filter((name) => name.length !== HASHED_CHARS)
    .map((name) => parseInt(name, 36))
    .sort((a, b) => a - b);
  const spans: [number, number][] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else spans.push([number, number]);
  }
  return [...spans.map(([from, to]) => (from === to ? base36(from) : `${base36(from)}-${base36(to)}`)), ...hashed];
}

const FORM =
  /^1\.([0-9a-z]{6})\.([0-9a-z]{1,4})\.([0-9a-z]{1,4})\.([0-9a-z:;,-]*)\.([0-9a-z:;,-]*)(?:\.([0-9a-z]{1,4}))?$/;
const GROUP = /^([0-9a-z]):([0-9a-z,-]+)$/;
const MEMBER = /^(?:([0-9a-z]{1,4})(?:-([0-9a-z]{1,4}))?|[0-9a-z]{8})$/;
const MAX_CHARS = 15_000;
const MAX_NAMES = 10_000;

/** null when it is no id of this run's stream. */
export function decodeTold(runId: string, id: string): Told | null {
  if (id.length > MAX_CHARS) return null;
  const [, tag, phase, turns, calls, approvals, controls = '0'] = FORM.exec(id) ?? [];
  if (tag === undefined || tag !== runTag(runId)) return null;
  const told = { calls: stepsOf(calls!), approvals: stepsOf(approvals!) };
  if (told.calls === null || told.approvals === null) return null;
  const counts = { phase: parseInt(phase!, 36), turns: parseInt(turns!, 36), controls: parseInt(controls, 36) };
  return { ...counts, calls: told.calls, approvals: told.approvals };
}

function stepsOf(groups: string): Map<string, number> | null {
  const steps = new Map<string, number>();
  for (const group of groups === '' ? [] : groups.split(';')) {
    const [, step, members] = GROUP.exec(group) ?? [];
    if (step === undefined) return null;
    for (const member of members!.split(',')) {
      const [whole, from, to] = MEMBER.exec(member) ?? [];
      if (whole === undefined) return null;
      const [first, last] = from === undefined ? [0, 0] : [parseInt(from, 36), parseInt(to ?? from, 36)];
      if (last - first + steps.size > MAX_NAMES) return null;
      if (from === undefined) steps.set(whole, parseInt(step, 36));
      else for (let number = first; number <= last; number++) steps.set(base36(number), parseInt(step, 36));
    }
  }
  return steps;
}
