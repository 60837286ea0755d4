import type { CallSummary, RunView } from '../../client/views.ts';
import type { Output } from '../../output/output.ts';
import { printable } from '../../output/printable.ts';
import { toneOf } from '../../output/tones.ts';

/** `nothing happened (not begun)`. */
export const cancellationText = ({ state, evidence }: NonNullable<CallSummary['cancellation']>): string =>
  `${state} (${evidence})`.replaceAll('_', ' ');

/** `succeeded, applied` or `failed (UPSTREAM_ERROR)`; of a cancelled call also what came of that. */
export const callText = ({ status, errorCode, effect, replayed, cancellation, undoes }: CallSummary): string =>
  [
    `${status}${errorCode ? ` (${errorCode})` : ''}`,
    effect === 'none' ? '' : effect,
    replayed ? 'replayed' : '',
    cancellation ? cancellationText(cancellation) : '',
    undoes ? `takes back ${undoes}` : '',
  ]
    .filter(Boolean)
    .join(', ');

/** A run for a person: what the journal holds first, then what the model says. */
export function printRun(out: Output, run: RunView): void {
  out.fields([
    ['run', run.runId],
    ['status', run.status, toneOf(run.status)],
    ['outcome', run.outcome],
    ['cause', run.cause && `${run.cause.code}: ${run.cause.message}`],
    ['agent', run.agent ?? (run.driver === 'client' ? 'driven by the client' : null)],
    ['asked by', run.principal],
    ['task', run.taskId],
    ['labels', labelText(run.labels)],
    ['turns', run.turns],
    ['stage', run.stage],
    ['started', run.startedAt],
    ['ended', run.endedAt],
    ['way back', run.compensation === 'none' ? null : run.compensation],
  ]);
  const calls = run.calls ?? [];
  if (calls.length > 0) {
    out.line();
    out.table(CALL_COLUMNS, calls, '');
  }
  const effects = (run.effects ?? []).filter(({ effect }) => effect !== 'none');
  if (effects.length > 0) {
    out.line();
    out.line(out.paint('strong', 'What was changed (by the journal)'));
    for (const { effect, tool, resourceIds } of effects)
      out.line(`  ${effect}: ${tool ?? '?'}${resourceIds.length > 0 ? ` → ${resourceIds.join(', ')}` : ''}`);
  }
  const remainder = run.compensationReport?.remainder ?? [];
  if (remainder.length > 0) {
    out.line();
    out.line(out.paint('strong', 'What could not be undone ("runs compensate": --retry, --skip or --done)'));
    for (const { callId, reason } of remainder) out.line(`  ${callId}: ${reason}`);
  }
  if (run.answer) {
    out.line();
    out.line(out.paint('strong', 'What the model says (untrusted)'));
    out.line(`  ${printable(run.answer).replaceAll('\n', '\n  ')}`);
  }
}

const CALL_COLUMNS = [
  { title: 'CALL', of: (call: CallSummary) => call.callId },
  { title: 'TOOL', of: (call: CallSummary) => call.tool ?? '' },
  { title: 'STATUS', of: callText },
];

export const labelText = (labels: RunView['labels']): string =>
  Object.entries(labels ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
