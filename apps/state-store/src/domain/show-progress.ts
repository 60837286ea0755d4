import { COMPENSATION_RANK, EPISODE_RANK } from './view-rows.ts';

/** How far a run and its calls have come, without results: what a watcher of the run compares with what it has seen. */
export interface StoredProgress {
  driver: string | null;
  agent: string | null;
  task_id: string | null;
  labels: Record<string, string> | null;
  started_at: Date | null;
  turns: number | null;
  episode_rank: number | null;
  status: string | null;
  outcome: string | null;
  cause: unknown;
  answer: string | null;
  ended_at: Date | null;
  compensation_rank: number | null;
  compensation: string | null;
  control_rank: number | null;
  control: string | null;
  stage_no: number | null;
  stage: string | null;
  calls: readonly StoredCallProgress[] | null;
}

export interface StoredCallProgress {
  readonly call_id: string;
  readonly rank: number;
  readonly status: string;
  readonly tool: string | null;
  readonly provider_call_id: string | null;
  readonly approval_rank: number;
  readonly approval_id: string | null;
  readonly settled_by: string | null;
  readonly effect: string | null;
  readonly replayed: boolean | null;
  readonly attempts: number | null;
  readonly duration_ms: number | null;
  readonly error_code: string | null;
  readonly replaced_by: string | null;
  readonly outcome_rank: number;
  readonly reconciled_by: string | null;
}

/** The same as the gateway reads it. Times are RFC 3339. */
export interface ProgressView {
  readonly driver: string | null;
  readonly agent: string | null;
  readonly taskId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly startedAt: string | null;
  readonly turns: number;
  /** Episode of the last end; 0 = none. */
  readonly endedRank: number;
  /** null = not ended, or resumed since. */
  readonly status: string | null;
  readonly outcome: string | null;
  readonly cause: unknown;
  readonly answer: string | null;
  readonly endedAt: string | null;
  /** 1 = asked, 2·round = that round has begun, 2·round + 1 = it is over; 0 = none. */
  readonly compensationRank: number;
  readonly compensation: string | null;
  /** Orders of people, and what the last of them holds. */
  readonly controls: number;
  readonly control: string | null;
  /** 0 = none. */
  readonly stageNo: number;
  readonly stage: string | null;
  readonly calls: readonly {
    readonly callId: string;
    readonly rank: number;
    readonly status: string;
    readonly tool: string | null;
    readonly providerCallId: string | null;
    readonly approvalRank: number;
    readonly approvalId: string | null;
    readonly settledBy: string | null;
    readonly effect: string | null;
    readonly replayed: boolean;
    readonly attempts: number;
    readonly durationMs: number | null;
    readonly errorCode: string | null;
    /** The call that a person wrote in its place. */
    readonly replacedBy: string | null;
    /** 1 = as the settlement says, 1 + n = as its nth amendment says. */
    readonly outcomeRank: number;
    /** Who found out an unknown outcome. */
    readonly reconciledBy: string | null;
  }[];
}

/** null when nothing is known of the run. */
export function showProgress(stored: StoredProgress): ProgressView | null {
  if (stored.turns === null && stored.calls === null) return null;
  return {
    driver: stored.driver,
    agent: stored.agent,
    taskId: stored.task_id,
    labels: stored.labels ?? {},
    startedAt: stored.started_at?.toISOString() ?? null,
    turns: stored.turns ?? 0,
    endedRank: EPISODE_RANK.lastEnded(stored.episode_rank ?? 0),
    status: stored.status,
    outcome: stored.outcome,
    cause: stored.cause ?? null,
    answer: stored.answer,
    endedAt: stored.ended_at?.toISOString() ?? null,
    compensationRank: COMPENSATION_RANK.stepOf(stored.compensation_rank ?? 0),
    compensation: stored.compensation,
    controls: stored.control_rank ?? 0,
    control: stored.control,
    stageNo: stored.stage_no ?? 0,
    stage: stored.stage,
    calls: (stored.calls ?? []).map((call) => ({
      callId: call.call_id,
      rank: call.rank,
      status: call.status,
      tool: call.tool,
      providerCallId: call.provider_call_id,
      approvalRank: call.approval_rank,
      approvalId: call.approval_id,
      settledBy: call.settled_by,
      effect: call.effect,
      replayed: call.replayed ?? false,
      attempts: call.attempts ?? 0,
      durationMs: call.duration_ms,
      errorCode: call.error_code,
      replacedBy: call.replaced_by,
      outcomeRank: call.outcome_rank,
      reconciledBy: call.reconciled_by,
    })),
  };
}
