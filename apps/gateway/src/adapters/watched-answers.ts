import { CountersignError } from '#kernel';
import { refusedByRun } from '../domain/problem.ts';
import { settlementOf, type Settlement } from '../domain/result-view.ts';
import { keys, type Watch } from './watchers.ts';

/** @throws CountersignError what the orchestrator refused the command with */
export function throwRefused(watch: Watch, commandKey: string): void {
  const refused = watch.get(commandKey, 'CommandRefused');
  if (refused) throw new CountersignError(refused.data.code, refused.data.message);
}

/** @throws HttpProblem 409 (400, 403, 404, 422) what the run refused the command with */
export function throwRefusedByRun(watch: Watch, commandKey: string): void {
  const refused = watch.get(commandKey, 'CommandRefused');
  if (refused) throw refusedByRun(refused.data);
}

/** How often people may change the arguments of one call before its caller waits for the last one itself. */
const MAX_EDITS = 20;

/** The settlement of a call, or of the one that a person wrote in its place. */
export function finallySettled(watch: Watch, tenant: string, callId: string): Settlement | undefined {
  let key = keys.settled(tenant, callId);
  for (let edits = 0; edits <= MAX_EDITS; edits++) {
    const settled = settledIn(watch, key);
    const next = settled?.error?.replacedBy;
    if (next === undefined) return settled;
    key = keys.settled(tenant, next);
    watch.follow(key);
  }
  return undefined;
}

export function settledIn(watch: Watch, settledKey: string): Settlement | undefined {
  const found = watch.get(settledKey, 'CallSettled');
  return found && settlementOf(found);
}
