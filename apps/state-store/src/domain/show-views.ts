import type { CompensationStatus } from '#contracts';
import { amendRank, EPISODE_RANK } from './view-rows.ts';

/** What the API shows of runs and calls. Fields `tenant`, `requestDigest` and `firstSeen` are for the gateway's own use. */
export interface CallSummary {
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly tool: string | null;
  readonly status: string;
  readonly errorCode: string | null;
  readonly replayed: boolean;
  readonly effect: string | null;
  readonly approvalId: string | null;
  /** `{state, evidence, at}`; null = it was not cancelled, or nobody knows yet what came of it. */
  readonly cancellation: unknown;
  /** Only of an undo: the call that it takes back. */
  readonly undoes?: string;
  /** Only of a call whose outcome was unknown: who found out what, and how. */
  readonly reconciliation?: unknown;
}

export interface RunView {
  readonly tenant: string;
  readonly runId: string;
  readonly driver: string | null;
  readonly agent: string | null;
  readonly principal: string | null;
  readonly requestDigest: string | null;
  readonly status: string;
  readonly outcome: string | null;
  readonly cause: unknown;
  readonly answer: string | null;
  readonly taskId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly turns: number;
  /** In which its last turn was asked for; null = it has no stages. */
  readonly stage: string | null;
  /** 1, and one more with each resume. */
  readonly episode: number;
  /** Tokens, cost (null = unknown) and result bytes at the end; null while it is open and for direct calls. */
  readonly usage: unknown;
  readonly compensation: CompensationStatus;
  /** `{undone, skipped, remainder, kept}` of the last way back; null = there was none, or it goes on. */
  readonly compensationReport: unknown;
  /** RFC 3339. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly calls: readonly CallSummary[];
  readonly effects: readonly {
    readonly callId: string;
    readonly tool: string | null;
    readonly effect: string;
    readonly resourceIds: readonly string[];
  }[];
}

export interface CallView extends CallSummary {
  readonly tenant: string;
  readonly runId: string;
  readonly principal: string | null;
  readonly contractDigest: string | null;
  readonly decision: 'allow' | 'ask' | 'deny' | null;
  /** RFC 3339: of the first fact about the call; lists have none. */
  readonly firstSeen?: string;
  readonly attempts: number;
  readonly durationMs: number | null;
  readonly error: unknown;
  /** `{sanitized, evidence, truncated, fault}`; null until the call succeeded. */
  readonly result: unknown;
}

export interface StoredRun {
  tenant: string;
  run_id: string;
  driver: string | null;
  agent: string | null;
  principal: string | null;
  request_digest: string | null;
  task_id: string | null;
  labels: Record<string, string> | null;
  started_at: Date | null;
  turns: number;
  episode_rank: number;
  usage: unknown;
  compensation: CompensationStatus | 'asked' | null;
  compensation_report: unknown;
  control: string | null;
  control_episode: number;
  stage: string | null;
  status: string | null;
  outcome: string | null;
  cause: unknown;
  answer: string | null;
  ended_at: Date | null;
  amend_rank: number;
  amended_outcome: string | null;
}

export interface StoredCall {
  tenant: string;
  call_id: string;
  run_id: string;
  status: string;
  principal: string | null;
  provider_call_id: string | null;
  tool: string | null;
  contract_digest: string | null;
  approval_id: string | null;
  settled_by: string | null;
  effect: string | null;
  replayed: boolean | null;
  attempts: number | null;
  duration_ms: number | null;
  error_code: string | null;
  error: unknown;
  result: unknown;
  resource_ids: string[] | null;
  cancellation: unknown;
  undoes: string | null;
  /** Not in lists. */
  first_seen?: Date;
  settled_at: Date | null;
  reconciliation: unknown;
}

export function showRun(run: StoredRun, calls: readonly StoredCall[]): RunView {
  return {
    tenant: run.tenant,
    runId: run.run_id,
    driver: run.driver,
    agent: run.agent,
    principal: run.principal,
    requestDigest: run.request_digest,
    status: run.status ?? openStatus(run, calls),
    outcome: knownOutcome(run),
    cause: run.cause ?? null,
    answer: run.answer,
    taskId: run.task_id,
    labels: run.labels ?? {},
    turns: run.turns,
    stage: run.stage,
    episode: EPISODE_RANK.episodeOf(run.episode_rank),
    usage: run.usage ?? null,
    compensation: run.compensation === null || run.compensation === 'asked' ? 'none' : run.compensation,
    compensationReport: run.compensation_report ?? null,
    startedAt: run.started_at?.toISOString() ?? null,
    endedAt: run.ended_at?.toISOString() ?? null,
    calls: calls.map(summaryOf),
    effects: calls
      .filter((call) => call.effect !== null && call.effect !== 'none')
      .map((call) => ({
        callId: call.call_id,
        tool: call.tool,
        effect: call.effect!,
        resourceIds: call.resource_ids ?? [],
      })),
  };
}

/** As RunEnded said it, or as it was found out afterwards. */
export function knownOutcome(
  run: Pick<StoredRun, 'outcome' | 'episode_rank' | 'amend_rank' | 'amended_outcome'>,
): string | null {
  const isOfThisEnd = run.amend_rank >= amendRank(EPISODE_RANK.lastEnded(run.episode_rank), 0);
  return run.outcome !== null && isOfThisEnd ? (run.amended_outcome ?? run.outcome) : run.outcome;
}

/** Lists are filtered by the same answer, in SQL: see read-runs.query.ts. */
function openStatus(run: StoredRun, calls: readonly StoredCall[]): string {
  if (run.compensation === 'asked') return 'awaiting_user';
  const controlled = run.control !== null && run.control_episode === EPISODE_RANK.episodeOf(run.episode_rank);
  if (controlled && run.compensation !== 'running') return run.control!;
  const open = calls.filter((call) => call.settled_at === null);
  if (open.some((call) => call.status === 'asked')) return 'awaiting_approval';
  if (open.length > 0) return 'awaiting_calls';
  return run.driver === 'agent' ? 'awaiting_model' : 'running';
}

const summaryOf = (call: StoredCall): CallSummary => ({
  callId: call.call_id,
  providerCallId: call.provider_call_id,
  tool: call.tool,
  status: call.status,
  errorCode: call.error_code,
  replayed: call.replayed ?? false,
  effect: call.effect,
  approvalId: call.approval_id,
  cancellation: call.cancellation ?? null,
  ...(call.undoes === null ? {} : { undoes: call.undoes }),
  ...(call.reconciliation == null ? {} : { reconciliation: call.reconciliation }),
});

export function showCall(call: StoredCall): CallView {
  return {
    ...summaryOf(call),
    tenant: call.tenant,
    runId: call.run_id,
    principal: call.principal,
    contractDigest: call.contract_digest,
    decision: decisionOf(call),
    ...(call.first_seen === undefined ? {} : { firstSeen: call.first_seen.toISOString() }),
    attempts: call.attempts ?? 0,
    durationMs: call.duration_ms,
    error: call.error ?? null,
    result: call.result ?? null,
  };
}

/** Policy's own answer, whatever became of it afterwards. */
function decisionOf(call: StoredCall): CallView['decision'] {
  if (call.approval_id !== null) return 'ask';
  if (call.status === 'granted' || call.settled_by === 'executor') return 'allow';
  return call.settled_by === 'policy' ? 'deny' : null;
}

/** A call whose outcome nobody knows yet, for those who look after it. */
export interface UnknownView extends CallView {
  /** RFC 3339: when the outcome became unknown. */
  readonly since: string | null;
  readonly ageMs: number;
  /** Nobody but a person can find it out. */
  readonly needsHuman: boolean;
}

export const showUnknown = (call: StoredCall & { age_ms: number; needs_human: boolean }): UnknownView => ({
  ...showCall(call),
  since: call.settled_at?.toISOString() ?? null,
  ageMs: Math.max(0, Math.round(call.age_ms)),
  needsHuman: call.needs_human,
});
