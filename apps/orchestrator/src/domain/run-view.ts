import type { Cancellation, CompensationStatus, RunOutcome, RunStatus, RunUsage } from '#contracts';
import { outcomeOf } from './outcome.ts';
import { isSettled, type Call, type SettledCall } from './call-state.ts';
import { episodeOf, statusOf, type Run } from './run-state.ts';
import { usageOf } from './usage.ts';
import { reckoning } from './way-back-steps.ts';

/** A run as the API shows it, without results: those are the state store's. `tenant` and `requestDigest` are for the gateway's own use. */
export interface RunView {
  readonly tenant: string;
  readonly requestDigest: string;
  readonly principal: string;
  readonly runId: string;
  readonly driver: string;
  readonly agent: string | null;
  readonly status: RunStatus;
  readonly outcome: RunOutcome | null;
  readonly cause: { readonly code: string; readonly message: string } | null;
  readonly answer: string | null;
  readonly taskId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly turns: number;
  readonly episode: number;
  readonly usage: RunUsage | null;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly compensation: CompensationStatus;
  /** What the last way back has left; null = there was none, or it goes on. */
  readonly compensationReport: Omit<ReturnType<typeof reckoning>, 'status'> | null;
  readonly calls: readonly CallSummary[];
  readonly effects: readonly {
    callId: string;
    tool: string;
    effect: SettledCall['effect'];
    resourceIds: readonly string[];
  }[];
}

interface CallSummary {
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly tool: string;
  /** Only of an undo: the call that it takes back. */
  readonly undoes?: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly replayed: boolean;
  readonly effect: SettledCall['effect'] | null;
  readonly approvalId: string | null;
  /** The call that a person wrote in its place. */
  readonly replacedBy?: string;
  /** What a cancellation of the run came to for this call; null = it was not cancelled, or nobody knows yet. */
  readonly cancellation: Cancellation | null;
}

export function runView(run: Run): RunView {
  const { definition, state } = run;
  const ended = state.phase.name === 'ended' ? state.phase : null;
  return {
    tenant: definition.tenant,
    requestDigest: definition.requestDigest,
    principal: definition.principal.id,
    runId: definition.runId,
    driver: definition.driver,
    agent: definition.agent?.name ?? null,
    status: statusOf(state),
    // As it is known now; what RunEnded said may have been found out since.
    outcome: ended && outcomeOf(state.calls),
    cause: ended?.end.cause ?? null,
    answer: ended?.end.answer ?? null,
    taskId: definition.taskId ?? null,
    labels: definition.labels,
    turns: state.turns,
    episode: episodeOf(run),
    usage: ended && definition.driver !== 'call' ? usageOf(run) : null,
    startedAt: new Date(definition.startedAt).toISOString(),
    endedAt: ended ? new Date(ended.at).toISOString() : null,
    compensation: compensationOf(run),
    compensationReport: reportOf(run),
    calls: state.calls.map(summaryOf),
    effects: state.calls
      .filter(isSettled)
      .filter((call) => call.effect !== 'none')
      .map(({ callId, tool, effect, resourceIds }) => ({ callId, tool, effect, resourceIds })),
  };
}

function summaryOf(call: Call): CallSummary {
  const base = {
    callId: call.callId,
    providerCallId: call.providerCallId ?? null,
    tool: call.tool,
    ...(call.undoes === undefined ? {} : { undoes: call.undoes }),
  };
  const open = { errorCode: null, replayed: false, effect: null, cancellation: null };
  switch (call.state) {
    case 'held':
    case 'proposed':
      return { ...base, ...open, status: 'proposed', approvalId: null };
    case 'asked':
      return { ...base, ...open, status: 'asked', approvalId: call.approvalId };
    case 'decided':
      return { ...base, ...open, status: call.approved ? 'granted' : 'asked', approvalId: call.approvalId };
    case 'settled': {
      const { errorCode, replayed, effect, approvalId, cancellation = null } = call;
      const replaced = call.replacedBy === undefined ? {} : { replacedBy: call.replacedBy };
      return {
        ...base,
        ...replaced,
        status: settledStatus(call),
        errorCode,
        replayed,
        effect,
        approvalId,
        cancellation,
      };
    }
  }
}

function compensationOf({ state: { compensation } }: Run): CompensationStatus {
  const { status } = compensation ?? { status: 'asked' };
  return status === 'asked' || status === 'kept' ? 'none' : status;
}

function reportOf(run: Run): RunView['compensationReport'] {
  const compensation = compensationOf(run);
  if (compensation !== 'done' && compensation !== 'partial') return null;
  const { undone, skipped, remainder, kept } = reckoning(run);
  return { undone, skipped, remainder, kept };
}

/** What became of a call that succeeded, once its run went back. */
function settledStatus({ status, wayBack }: SettledCall): string {
  if (wayBack?.state === 'undone') return 'compensated';
  const tried = wayBack?.state === 'left' && wayBack.reason?.startsWith('undo_') === true;
  return tried ? 'compensation_failed' : status;
}
