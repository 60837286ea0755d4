import type { CallFacts } from '#contracts';
import { dropHeld, type Refusal } from './admit-batch.ts';
import { callError } from './call-error.ts';
import { closeRun } from './close-run.ts';
import { callProposed, requestTurn } from './emissions.ts';
import { compensateAtEnd, goBack } from './compensation.ts';
import { completedEnd } from './ends.ts';
import { factStep } from './facts.ts';
import { stopAfterCalls, stopBeforeTurn } from './limits.ts';
import { releaseGate } from './release-gate.ts';
import { takenOverBy } from './run-control.ts';
import { enterStage, parallelOf } from './stages.ts';
import { reserveRequest, tenantEnd } from './tenant-use.ts';
import { baseOf, isOut, isReplaced, isSettled, type Call, type HeldCall, type ProposedCall } from './call-state.ts';
import { withState, type End, type Run } from './run-state.ts';
import type { Advanced, Emission, Env, Input } from './saga.types.ts';

/**
 * What follows from a run's state alone, after any transition: calls whose turn has come are proposed, a turn whose
 * calls have all settled goes back to the model, a run with nothing left ends.
 *
 * S1 reads next to each other run in parallel, up to maxParallel calls out at once.
 * S2 a write waits for everything proposed before it and holds back everything after it.
 * S3 after a write that did not succeed the later writes of the batch end as DEPENDENCY_FAILED; reads go on.
 * S4 batches do not wait for each other.
 * S5 a limit that is passed lets what was admitted come to its end, and nothing new begin (L1–L5 in limits.ts).
 * S6 a call with dependsOn waits for exactly those calls, whatever their batch, and ends as DEPENDENCY_FAILED when one of
 *    them did not succeed; it neither keeps the order S1–S3 nor holds back those that do.
 * S7 while its tenant is suspended a run begins nothing and its clock stands still; what is out comes to its end. Timers
 *    look after it: once the suspension is lifted it goes on by itself.
 */
export function advance(run: Run, input: Input, env: Env): Advanced {
  const { phase } = run.state;
  if (phase.name === 'ended' || phase.name === 'asking') return { run, out: [] };
  if (env.suspended?.has(run.definition.tenant) === true && !isEnding(run)) return { run, out: [] };
  if (phase.name === 'compensating') return goBack(run, input, env);
  const released = stopIfPassed(release(run, input, env));
  if (!released.run.state.calls.every(isSettled)) return released;
  const next = whenAllSettled(released.run, input, env);
  const back = next.run.state.phase.name === 'compensating' ? goBack(next.run, input, env) : { run: next.run, out: [] };
  return { run: back.run, out: [...released.out, ...next.out, ...back.out] };
}

/** Nothing is begun any more. */
const isEnding = ({ state: { phase, calls } }: Run): boolean =>
  phase.name === 'closing' || (phase.name === 'finishing' && calls.every(isSettled));

function stopIfPassed(advanced: Advanced): Advanced {
  const { run, out } = advanced;
  const { name } = run.state.phase;
  if (run.definition.driver === 'call' || (name !== 'open' && name !== 'awaiting_calls')) return advanced;
  const end = stopAfterCalls(run);
  return end ? { run: withState(run, { phase: { name: 'finishing', end } }), out } : advanced;
}

function release(run: Run, input: Input, env: Env): Advanced {
  if (run.state.calls.every((call) => call.state !== 'held')) return { run, out: [] };
  const calls = [...run.state.calls];
  const out: Emission[] = [];
  let room = parallelOf(run) - calls.filter(isOut).length;
  const drop = (index: number, call: HeldCall, refusal: Refusal): void => {
    const dropped = dropHeld(run, input, call, refusal, env.now);
    calls[index] = dropped.call;
    out.push(dropped.out);
  };
  const begin = (index: number, call: HeldCall): void => {
    if (room <= 0 || !mayBegin(run, call)) return;
    const gate = releaseGate(run, calls, call);
    if (gate !== 'open') {
      if (gate !== 'wait') drop(index, call, gate);
      return;
    }
    const known = factStep(run, calls, call, env);
    if (known.kind === 'refuse') drop(index, call, known.refusal);
    if (known.kind !== 'ready' && known.kind !== 'read') return;
    const proposed = propose(run, known.kind === 'read' ? known.call : withFacts(call, known.facts), env.now);
    calls[known.kind === 'read' ? calls.length : index] = proposed;
    out.push(callProposed(run, input, proposed));
    room--;
  };
  for (const indexes of byBatch(calls)) {
    let failedWrite = false;
    let unsettled = false;
    for (const index of indexes) {
      const call = calls[index]!;
      const write = call.effectClass === 'call';
      if (call.state === 'held' && write && !unsettled && failedWrite) {
        const error = callError('DEPENDENCY_FAILED', 'An earlier write of the same turn did not succeed');
        drop(index, call, { error });
      } else if (call.state === 'held' && !(write && unsettled)) begin(index, call);
      const now = calls[index]!;
      if (write && isSettled(now) && now.status !== 'succeeded' && !isReplaced(now)) failedWrite = true;
      if (!isSettled(now)) unsettled = true;
      if (write && !isSettled(now)) break;
    }
  }
  for (let dropped = true; dropped;) {
    const before = calls.filter(isSettled).length;
    calls.forEach((call, index) => {
      if (call.state !== 'held' || !call.dependsOn) return;
      const needs = call.dependsOn.map((id) => calls.find((other) => other.callId === id));
      const failed = needs.find((other) => other && isSettled(other) && other.status !== 'succeeded');
      if (failed) drop(index, call, { error: dependencyFailed(failed) });
      else if (needs.every((other) => other && isSettled(other))) begin(index, call);
    });
    // What was dropped may be what another one waits for.
    dropped = calls.filter(isSettled).length > before;
  }
  return { run: withState(run, { calls }), out };
}

const withFacts = (call: HeldCall, facts: CallFacts | undefined): HeldCall =>
  facts === undefined ? call : { ...call, bound: { ...call.bound, facts } };

/** H1, H2 */
const mayBegin = (run: Run, { batch }: HeldCall): boolean =>
  run.state.control === undefined || (takenOverBy(run) !== undefined && run.state.batches[batch]?.by !== undefined);

const dependencyFailed = ({ callId, tool }: Call) =>
  callError('DEPENDENCY_FAILED', `${tool} (${callId}), which it waited for, did not succeed`, [
    { path: '/dependsOn', rule: 'succeeded' },
  ]);

function byBatch(calls: readonly Call[]): Iterable<number[]> {
  const batches = new Map<number, number[]>();
  calls.forEach((call, index) => {
    if (call.dependsOn) return;
    const known = batches.get(call.batch);
    if (known) known.push(index);
    else batches.set(call.batch, [index]);
  });
  return batches.values();
}

/** The right to settle goes to policy with this message. Its deadline leaves the time that a person may take. */
function propose(run: Run, call: HeldCall, now: number): ProposedCall {
  const { bound, timeoutMs, approvalTtlMs, undo } = call;
  const { clock } = run.state;
  const clockEnd = clock.since === null ? now + clock.leftMs : clock.since + clock.leftMs;
  const proposal = { ...bound, runDeadline: clockEnd + approvalTtlMs };
  return {
    ...baseOf(call),
    state: 'proposed',
    proposal,
    at: now,
    movedAt: now,
    timeoutMs,
    ...(undo === undefined ? {} : { undo }),
  };
}

function whenAllSettled(run: Run, input: Input, env: Env): Advanced {
  const { phase, turns } = run.state;
  const { driver } = run.definition;
  switch (phase.name) {
    case 'finishing':
    case 'closing':
      return endRun(run, input, phase.end, env.now);
    case 'awaiting_calls': {
      if (run.state.control) return { run, out: [] };
      if (driver !== 'agent') return endRun(run, input, endOfCall(run), env.now);
      const end = stopBeforeTurn(run);
      if (end) return endRun(run, input, end, env.now);
      const taken = reserveRequest(enterStage(run), env);
      if ('stop' in taken) return endRun(run, input, tenantEnd(taken.stop), env.now);
      const asking = withState(taken.run, { phase: { name: 'awaiting_model', turn: turns + 1 } });
      return { run: asking, out: [requestTurn(asking, input, turns + 1, env.now)] };
    }
    case 'open':
    case 'awaiting_model':
    case 'asking':
    case 'compensating':
    case 'ended':
      return { run, out: [] };
  }
}

/** Of a direct call. */
function endOfCall({ state: { calls } }: Run): End {
  const refused = calls.filter(isSettled).find((call) => call.tenantLimit)?.tenantLimit;
  return refused ? tenantEnd(refused) : completedEnd(null);
}

/** A run comes to its end: at once, or after its way back, or after a person was asked about it. */
export function endRun(run: Run, input: Input, end: End, now: number): Advanced {
  const free = run.state.control ? withState(run, { control: undefined }) : run;
  return compensateAtEnd(free, input, end, now) ?? closeRun(free, input, end, now);
}
