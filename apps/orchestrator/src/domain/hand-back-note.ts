import type { HandBack } from './run-control.ts';
import { isSettled } from './call-state.ts';
import type { Run } from './run-state.ts';

const MAX_LISTED = 100;

/** What the model is told with this turn; null: no person had the run since the turn before. No arguments, no results (H3). */
export function handBackNote(run: Run, turn: number): string | null {
  const { handBack } = run.state;
  return handBack?.turn === turn ? textOf(run, handBack) : null;
}

function textOf({ state: { calls, batches } }: Run, { batch, by, reason }: HandBack): string {
  const own = calls.filter((call) => call.batch >= batch && batches[call.batch]?.by !== undefined);
  const lines = own
    .slice(0, MAX_LISTED)
    .map((call) => `- ${call.tool}: ${isSettled(call) ? call.status : 'not finished'}`);
  const rest = own.length > MAX_LISTED ? [`- and ${own.length - MAX_LISTED} more`] : [];
  return [
    `A person (${by}) had taken this run over and hands it back to you.`,
    own.length === 0 ? 'They made no calls.' : 'They made these calls, whose results you do not see:',
    ...lines,
    ...rest,
    ...(reason === null ? [] : [`They say: ${reason}`]),
    'What you read before may have changed. Go on with the task.',
  ].join('\n');
}
