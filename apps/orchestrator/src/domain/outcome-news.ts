import type { CallReconciled } from '#contracts';
import { isOfModel } from './run-control.ts';
import { isSettled, type Call, type SettledCall } from './call-state.ts';
import { isEnded, isResumable, withState, type News, type Run } from './run-state.ts';

const MAX_LISTED = 50;

/**
 * A model that was told that an outcome is unknown, and went on, is told once it is known: with the next turn that is not
 * asked for yet. A request that is out is sent again as it was, so it never changes (T2).
 * @param told the call as it was before
 */
export function withNews(run: Run, told: Call, { status }: CallReconciled): Run {
  const { phase, turns, news = [] } = run.state;
  if (!isSettled(told) || told.effectClass === 'undo' || status === 'needs_human' || !isOfModel(run, told)) return run;
  if (isEnded(run) && !isResumable(run)) return run;
  // Its output is still to be handed over, and says the truth by then.
  if (told.output !== undefined && phase.name !== 'awaiting_model') return run;
  const turn = phase.name === 'awaiting_model' ? phase.turn + 1 : turns + 1;
  const others = news.filter(({ callId }) => callId !== told.callId);
  return withState(run, { news: [...others, { callId: told.callId, turn }] });
}

/** What was said with this turn is said. */
export const forgetNews = ({ state: { news } }: Run, turn: number): readonly News[] | undefined => {
  const rest = news?.filter((one) => one.turn > turn) ?? [];
  return rest.length === 0 ? undefined : rest;
};

/** null: nothing became known. No arguments, no results. */
export function newsNote({ state: { news = [], calls } }: Run, turn: number): string | null {
  const known = news
    .filter((one) => one.turn <= turn)
    .flatMap(({ callId }) => calls.filter(isSettled).filter((call) => call.callId === callId));
  if (known.length === 0) return null;
  const rest = known.length > MAX_LISTED ? [`- and ${known.length - MAX_LISTED} more`] : [];
  return [
    'A note of the runtime: you were told that the outcome of a call is unknown. It is known now:',
    ...known.slice(0, MAX_LISTED).map((call) => `- ${call.tool} (${call.callId}): ${SAID[call.status] ?? call.status}`),
    ...rest,
  ].join('\n');
}

const SAID: Partial<Record<SettledCall['status'], string>> = {
  succeeded: 'it was applied. Do not repeat it.',
  failed: 'it was not applied, and changed nothing.',
  partially_applied: 'it was applied in part; a person looks after the rest. Do not repeat it.',
};
