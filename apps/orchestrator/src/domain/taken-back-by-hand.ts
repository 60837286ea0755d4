import type { Leftover } from '#contracts';
import { isSettled, type SettledCall } from './call-state.ts';
import { closeUndone } from './emissions.ts';
import { roundsOf, type Run } from './run-state.ts';
import { ContractsMissing, type Emission, type Env, type Input } from './saga.types.ts';

/**
 * What a person says is taken back by other means (C9). The pool that ran the call closes its operation, so that the same
 * key may act again, as after an undo.
 *
 * | the call is        | the person says done | later it is found out to have succeeded |
 * |--------------------|----------------------|-----------------------------------------|
 * | succeeded          | CloseUndone          | –                                       |
 * | not known, partial | nothing yet          | CloseUndone                             |
 */
export type ByHand =
  | { readonly ok: true; readonly out: readonly Emission[] }
  /** This call's contract cannot be read: nobody can tell its pool. */
  | { readonly ok: false; readonly callId: string };

/** @throws ContractsMissing when the contract of a named call must be fetched first */
export function closeByHand(
  run: Run,
  input: Input,
  env: Env,
  { commandId, by, calls }: { commandId: string; by: string; calls: readonly Leftover[] },
): ByHand {
  const done = calls.filter(({ how }) => how === 'done').map(({ callId }) => callId);
  const known = run.state.calls
    .filter(isSettled)
    .filter((call) => call.wayBack !== undefined && call.status === 'succeeded' && done.includes(call.callId));
  const missing = known.map((call) => call.wayBack!.contractDigest).filter((digest) => !env.contracts.has(digest));
  if (missing.length > 0) throw new ContractsMissing(missing);
  const out: Emission[] = [];
  for (const { callId, wayBack } of known) {
    const readable = env.contracts.get(wayBack!.contractDigest)!;
    if (readable === 'unreadable') return { ok: false, callId };
    const { pool } = readable.contract.execution;
    out.push(closeUndone(run, input, { commandId, by, callId, pool }, env.now));
  }
  return { ok: true, out };
}

/** The call is known to have succeeded, after a person had said that it is taken back. */
export function closeKnownLater(run: Run, input: Input, call: SettledCall, pool: string, now: number): Emission[] {
  if (call.status !== 'succeeded') return [];
  const { callId } = call;
  const round = roundsOf(run).find(({ leftovers }) =>
    leftovers.some((one) => one.callId === callId && one.how === 'done'),
  );
  if (round?.commandId == null || round.by === null) return [];
  return [closeUndone(run, input, { commandId: round.commandId, by: round.by, callId, pool }, now)];
}
