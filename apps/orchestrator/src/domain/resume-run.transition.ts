import type { Budgets, LimitName, TenantLimit } from '#contracts';
import type { ErrorCode } from '#kernel';
import { commandRefused, runResumed } from './emissions.ts';
import { stopAfterCalls, stopBeforeTurn } from './limits.ts';
import { budgetsOf, isResumable, mayKeep, statusOf, withState, type Phase, type Run } from './run-state.ts';
import { charge, reserveRequest, tenantText } from './tenant-use.ts';
import type { Env, InputOf, Step } from './saga.types.ts';

type ResumeRun = InputOf<'ResumeRun'>;

/** Opens the next episode of a run that a limit has ended. The same command again says the same. */
export function resumeRun(run: Run, input: ResumeRun, env: Env): Step {
  const { commandId, principal, budgets: written } = input.data;
  const refuse = (code: ErrorCode, message: string): Step => ({
    run,
    out: [commandRefused(input, code, message, env.now)],
  });
  if (!mayKeep(principal, run)) return refuse('PERMISSION_DENIED', 'The run belongs to another principal');
  const known = run.state.resumes.findIndex((resume) => resume.commandId === commandId);
  if (known !== -1) return { run, out: [runResumed(run, input, known)] };
  if (!isResumable(run)) return refuse('INVALID_ARGS', notResumable(run));
  const before = budgetsOf(run);
  const lowered = limitsWhere(written, (name) => rank(written, name) < rank(before, name));
  if (lowered.length > 0)
    return refuse('INVALID_ARGS', `A resume only raises limits; lower than before: ${told(lowered, before)}`);
  const budgets: Budgets = { ...before, ...defined(written) };
  const ended = run.state.phase as Phase & { name: 'ended' };
  const by = ended.end.cause?.limit;
  if (by !== undefined && rank(budgets, by) <= rank(before, by))
    return refuse('INVALID_ARGS', `The run ended by its limit ${told([by], before)}: raise it to go on`);
  const resumed = nextEpisode(run, commandId, budgets, env.now);
  const stop = resumed.state.clock.leftMs <= 0 ? 'wallClockMs' : stillPassed(resumed)?.cause?.limit;
  const tenant = stop === undefined ? tenantStop(resumed, env) : undefined;
  if (tenant) return refuse('BUDGET_EXHAUSTED', tenantText(tenant));
  if (stop !== undefined)
    return refuse('INVALID_ARGS', `The limit ${told([stop], budgets)} is used up as well: raise it, too`);
  return { run: resumed, out: [runResumed(resumed, input, resumed.state.resumes.length - 1)] };
}

function nextEpisode(run: Run, commandId: string, budgets: Budgets, now: number): Run {
  const { clock, resumes, batches } = run.state;
  const leftMs = clock.leftMs + budgets.wallClockMs - budgetsOf(run).wallClockMs;
  return withState(run, {
    phase: run.definition.driver === 'client' ? { name: 'open' } : { name: 'awaiting_calls' },
    resumes: [...resumes, { commandId, budgets, batch: batches.length, at: now }],
    clock: { leftMs, since: now },
  });
}

/** Is there still no room for its next step? What begins with the resume is charged by the step that begins it. */
function tenantStop(run: Run, env: Env): TenantLimit | undefined {
  const taken = run.definition.driver === 'agent' ? reserveRequest(run, env) : charge(run, { calls: 1 }, env);
  return 'stop' in taken ? taken.stop : undefined;
}

const stillPassed = (run: Run) =>
  stopAfterCalls(run) ?? (run.definition.driver === 'agent' ? stopBeforeTurn(run) : null);

function notResumable(run: Run): string {
  const { phase } = run.state;
  if (run.definition.driver === 'call') return 'The run of one direct call is not resumed: make the call anew';
  const back = run.state.compensation;
  if (back !== undefined && back.status !== 'kept')
    return 'The run was on its way back: what it did was undone, or was to be';
  const state = phase.name === 'ended' ? `has ended as "${phase.end.status}"` : `is "${statusOf(run.state)}"`;
  return `Only a run that ended as "budget_exhausted" is resumed; this one ${state}`;
}

type Some = { readonly [K in LimitName]?: Budgets[K] | undefined };
/** A permission counts as a limit that is raised by giving it. */
const rank = (budgets: Some, name: LimitName): number => Number(budgets[name]);
const limitsWhere = (written: Some, fits: (name: LimitName) => boolean): LimitName[] =>
  (Object.keys(defined(written)) as LimitName[]).filter(fits);
const told = (names: readonly LimitName[], budgets: Budgets): string =>
  names.map((name) => `${name} (${budgets[name]})`).join(', ');
const defined = (written: Some): Partial<Budgets> =>
  Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined));
