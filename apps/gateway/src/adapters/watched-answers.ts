import { CountersignError } from '#kernel';
import { refusedByRun } from '../domain/problem.ts';
import { settlementOf, type Settlement } from '../domain/result-view.ts';
import type { Watch } from './watchers.ts';

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

export function settledIn(watch: Watch, settledKey: string): Settlement | undefined {
  const found = watch.get(settledKey, 'CallSettled');
  return found && settlementOf(found);
}
