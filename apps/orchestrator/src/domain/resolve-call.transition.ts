import { commandRefused, reconcileCall } from './emissions.ts';
import { isSettled, isUnknown } from './call-state.ts';
import type { Run } from './run-state.ts';
import type { Env, InputOf, Step } from './saga.types.ts';

type ResolveCall = InputOf<'ResolveCall'>;

/** Who may say what became of a call. The gateway asks the same; nobody depends on it alone. */
const RESOLVERS: readonly string[] = ['operator', 'tenant-admin'];

/** Passed on to the call's pool, whose record decides; a command that was obeyed already is passed on again for its answer. */
export function resolveCall(run: Run, input: ResolveCall, env: Env): Step {
  const { callId, principal, commandId } = input.data;
  const refuse = (code: Parameters<typeof commandRefused>[1], message: string): Step => ({
    run,
    out: [commandRefused(input, code, message, env.now)],
  });
  if (!principal.roles.some((role) => RESOLVERS.includes(role)))
    return refuse('PERMISSION_DENIED', `Resolving a call needs one of the roles ${RESOLVERS.join(', ')}`);
  const call = run.state.calls.find((candidate) => candidate.callId === callId);
  if (!call) return refuse('NOT_FOUND', 'There is no such call');
  const repeated = isSettled(call) && call.reconciled?.commandId === commandId;
  const unsettled = isSettled(call) && (call.status === 'partially_applied' || isUnknown(call));
  if (!isSettled(call) || call.pool === undefined || !(unsettled || repeated)) {
    const state = isSettled(call) ? call.status : 'not settled yet';
    return refuse(
      'INVALID_ARGS',
      `Only a call whose outcome is unknown, or that was applied in part, is resolved; this one is "${state}"`,
    );
  }
  return { run, out: [reconcileCall(run, input, call.pool, env.now)] };
}
