import { runIdOfCall } from '#kernel';
import { admitBatch } from './admit-batch.ts';
import { commandRefused } from './emissions.ts';
import { completedEnd } from './ends.ts';
import { resolveDependencies } from './resolve-dependencies.ts';
import { takenOverBy } from './run-control.ts';
import { withState, type Run } from './run-state.ts';
import type { Env, InputOf, Step } from './saga.types.ts';

type ProposeCalls = InputOf<'ProposeCalls'>;
type FinishRun = InputOf<'FinishRun'>;

/** Proposals of a client. The same command again decides nothing; the same ids with other content are a conflict. */
export function proposeCalls(run: Run, input: ProposeCalls, env: Env): Step {
  const refusal = refuseProposals(run, input, env);
  if (refusal) return refusal;
  const { commandId, requestDigest, principal, proposals } = input.data;
  const resolved = resolveDependencies(run.state.calls, proposals);
  if (!resolved.ok) {
    const [first] = resolved.details;
    const message = `The proposals wait for what cannot come: ${first!.path} ${first!.message}`;
    return { run, out: [commandRefused(input, 'INVALID_ARGS', message, env.now, resolved.details)] };
  }
  const by = takenOverBy(run);
  const batch = { commandId, requestDigest, ...(by === undefined ? {} : { by }) };
  const named = proposals.map((proposal) => ({ ...proposal, dependsOn: resolved.dependsOn.get(proposal.callId) }));
  return admitBatch(run, input, { principal, proposals: named, batch }, env);
}

function refuseProposals(run: Run, input: ProposeCalls, env: Env): Step | undefined {
  const { commandId, requestDigest, principal, proposals } = input.data;
  const { driver, principal: owner } = run.definition;
  const person = takenOverBy(run);
  if (driver !== 'client' && person === undefined)
    return refuse(
      run,
      input,
      'INVALID_ARGS',
      env,
      `A run of driver "${driver}" takes no ProposeCalls until it is taken over`,
    );
  if (principal.id !== owner.id && principal.id !== person)
    return refuse(run, input, 'PERMISSION_DENIED', env, 'The run belongs to another principal');
  const known = run.state.batches.find((batch) => batch.commandId === commandId);
  if (known?.requestDigest === requestDigest) return { run, out: [] };
  const ids = proposals.map((proposal) => proposal.callId);
  const foreign = ids.some((id) => runIdOfCall(id) !== run.definition.runId) || new Set(ids).size < ids.length;
  if (foreign) return refuse(run, input, 'INVALID_ARGS', env, 'Each proposal needs a callId of this run, of its own');
  const repeated = run.state.calls.filter((call) => ids.includes(call.callId));
  const sameRequest =
    repeated.length === ids.length &&
    repeated.every((call) => run.state.batches[call.batch]?.requestDigest === requestDigest);
  if (sameRequest) return { run, out: [] };
  if (known || repeated.length > 0)
    return refuse(run, input, 'IDEMPOTENCY_CONFLICT', env, 'The same key was used for other proposals');
  if (person !== undefined && principal.id !== person)
    return refuse(
      run,
      input,
      'INVALID_ARGS',
      env,
      'The run is taken over: only that person proposes until it is handed back',
    );
  return undefined;
}

/** In the middle of an agent's run only a person who took it over proposes. */
export const proposeByPerson = (run: Run, input: ProposeCalls, env: Env): Step =>
  takenOverBy(run) === undefined ? proposeTooLate(run, input, env) : proposeCalls(run, input, env);

/** A repeat of what is known is harmless in every phase; anything new is refused, naming both states. */
export function proposeTooLate(run: Run, input: ProposeCalls, env: Env): Step {
  const refusal = refuseProposals(run, input, env);
  if (refusal) return refusal;
  const { phase } = run.state;
  const over = 'end' in phase && phase.end.status === 'budget_exhausted';
  return refuse(
    run,
    input,
    over ? 'BUDGET_EXHAUSTED' : 'CANCELLED',
    env,
    `ProposeCalls needs a run in phase "open"; this one is "${phase.name}"`,
  );
}

/** The client, or the person who took over, is done: what was proposed still runs; then the run is completed. */
export function finishRun(run: Run, input: FinishRun, env: Env): Step {
  const { driver, principal } = run.definition;
  const person = takenOverBy(run);
  if (driver !== 'client' && person === undefined)
    return refuse(run, input, 'INVALID_ARGS', env, `A run of driver "${driver}" ends by itself`);
  if (input.data.principal.id !== (person ?? principal.id))
    return refuse(run, input, 'PERMISSION_DENIED', env, 'The run belongs to another principal');
  if ('end' in run.state.phase) return { run, out: [] };
  return { run: withState(run, { phase: { name: 'finishing', end: completedEnd(null) } }), out: [] };
}

function refuse(
  run: Run,
  input: ProposeCalls | FinishRun,
  code: Parameters<typeof commandRefused>[1],
  env: Env,
  message: string,
): Step {
  return { run, out: [commandRefused(input, code, message, env.now)] };
}
