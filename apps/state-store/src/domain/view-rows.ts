/**
 * What is stored of runs and calls, and how two pieces of knowledge about one of them become one.
 *
 * V1 merging is commutative, associative and idempotent: facts may come in any order and any number of times.
 * V2 the higher rank says what is; a lower, later fact only fills in what is not known.
 * V3 a row belongs to one tenant: the same id under another tenant is another row (G12).
 */
export interface RunRow {
  readonly tenant: string;
  readonly runId: string;
  readonly driver: string | null;
  readonly agent: string | null;
  readonly principal: string | null;
  readonly requestDigest: string | null;
  readonly taskId: string | null;
  /** JSON. */
  readonly labels: string | null;
  readonly startedAt: string | null;
  readonly turns: number;
  readonly episodeRank: number;
  readonly status: string | null;
  readonly outcome: string | null;
  /** JSON. */
  readonly cause: string | null;
  readonly answer: string | null;
  readonly endedAt: string | null;
  /** JSON; what the run had used at its end. */
  readonly usage: string | null;
  readonly compensationRank: number;
  readonly compensation: string | null;
  /** JSON. */
  readonly compensationReport: string | null;
  /** What became known after an end: the outcome of that episode, by the highest amendment. */
  readonly amendRank: number;
  readonly amendedOutcome: string | null;
  /** How many orders of people were seen at least; the last one of them says `control`. */
  readonly controlRank: number;
  readonly control: string | null;
  /** It holds in this episode. */
  readonly controlEpisode: number;
  /** The furthest stage that a turn was asked for in; 0 = none. */
  readonly stageNo: number;
  readonly stage: string | null;
  readonly firstSeen: string;
}

export interface CallRow {
  readonly tenant: string;
  readonly callId: string;
  readonly runId: string;
  readonly rank: number;
  readonly status: string;
  readonly principal: string | null;
  readonly providerCallId: string | null;
  readonly tool: string | null;
  readonly contractDigest: string | null;
  readonly approvalRank: number;
  readonly approvalId: string | null;
  readonly settledBy: string | null;
  /** 0 = not settled, 1 = as the settlement says, 1 + n = as its nth amendment says: effect, error, result, reconciliation. */
  readonly outcomeRank: number;
  readonly effect: string | null;
  readonly replayed: boolean | null;
  readonly attempts: number | null;
  readonly durationMs: number | null;
  readonly errorCode: string | null;
  /** JSON. */
  readonly error: string | null;
  /** JSON. */
  readonly result: string | null;
  readonly resourceIds: readonly string[] | null;
  /** JSON; what a cancellation came to. */
  readonly cancellation: string | null;
  /** Of an undo: the call that it takes back. */
  readonly undoes: string | null;
  readonly firstSeen: string;
  readonly settledAt: string | null;
  /** JSON; who found out an unknown outcome, and how. */
  readonly reconciliation: string | null;
}

/** Ranks of a call's states. A judgement after a returned grant has a higher number than the one before it. */
export const RANK = {
  proposed: 0,
  asked: (decisionNo: number) => decisionNo * 10 + 1,
  granted: (decisionNo: number) => decisionNo * 10 + 2,
  settled: 1_000_000_000,
  /** What was found out of an unknown outcome: it counts more than the settlement, and a later one more than an earlier one. */
  reconciled: (amendment: number) => 1_000_000_000 + Math.min(amendment, 1_000_000),
  compensationFailed: 1_001_000_001,
  compensated: 1_001_000_002,
} as const;

const ROUND = 10_000;
/** A way back of a run goes round by round; each begins and ends; what became known after an end counts more than it. */
export const COMPENSATION_RANK = {
  asked: 1,
  started: (round: number) => round * ROUND,
  ended: (round: number) => round * ROUND + 1,
  amended: (round: number, amendment: number) => round * ROUND + 1 + Math.min(amendment, ROUND - 2),
  /** 1 = asked, 2·round = begun, 2·round + 1 = over. */
  stepOf: (rank: number) => (rank < ROUND ? rank : 2 * Math.floor(rank / ROUND) + Math.min(1, rank % ROUND)),
} as const;

/** A resume begins an episode and takes the end before it back, until that episode has ended. */
export const EPISODE_RANK = {
  resumed: (episode: number) => episode * 2 - 1,
  ended: (episode: number) => episode * 2,
  /** 0 = none. */
  lastEnded: (rank: number) => Math.floor(rank / 2),
  /** 1 for a run that has neither ended nor been resumed. */
  episodeOf: (rank: number) => Math.max(1, Math.ceil(rank / 2)),
} as const;

/** The amendments of one episode follow those of the one before. */
export const amendRank = (episode: number, amendment: number): number =>
  episode * 100_000 + Math.min(amendment, 99_999);

const earlier = (a: string, b: string): string => (a <= b ? a : b);

export function mergeRuns(a: RunRow, b: RunRow): RunRow {
  const [high, low] = b.episodeRank > a.episodeRank ? [b, a] : [a, b];
  const controlled = b.controlRank > a.controlRank ? b : a;
  const staged = b.stageNo > a.stageNo ? b : a;
  return {
    ...high,
    driver: high.driver ?? low.driver,
    agent: high.agent ?? low.agent,
    principal: high.principal ?? low.principal,
    requestDigest: high.requestDigest ?? low.requestDigest,
    taskId: high.taskId ?? low.taskId,
    labels: high.labels ?? low.labels,
    startedAt: high.startedAt ?? low.startedAt,
    turns: Math.max(a.turns, b.turns),
    answer: high.answer ?? low.answer,
    ...compensationOf(b.compensationRank > a.compensationRank ? b : a),
    ...(a.amendRank >= b.amendRank ? amendmentOf(a) : amendmentOf(b)),
    controlRank: controlled.controlRank,
    control: controlled.control,
    controlEpisode: controlled.controlEpisode,
    stageNo: staged.stageNo,
    stage: staged.stage,
    firstSeen: earlier(a.firstSeen, b.firstSeen),
  };
}

const compensationOf = ({ compensationRank, compensation, compensationReport }: RunRow) => ({
  compensationRank,
  compensation,
  compensationReport,
});
const amendmentOf = ({ amendRank, amendedOutcome }: RunRow) => ({ amendRank, amendedOutcome });

const outcomeFrom = ({ outcomeRank, effect, errorCode, error, result, resourceIds, reconciliation }: CallRow) => ({
  outcomeRank,
  effect,
  errorCode,
  error,
  result,
  resourceIds,
  reconciliation,
});

export function mergeCalls(a: CallRow, b: CallRow): CallRow {
  const [high, low] = b.rank > a.rank ? [b, a] : [a, b];
  const approval = b.approvalRank > a.approvalRank ? b : a;
  return {
    ...high,
    principal: high.principal ?? low.principal,
    providerCallId: high.providerCallId ?? low.providerCallId,
    tool: high.tool ?? low.tool,
    contractDigest: high.contractDigest ?? low.contractDigest,
    cancellation: high.cancellation ?? low.cancellation,
    undoes: high.undoes ?? low.undoes,
    approvalRank: approval.approvalRank,
    approvalId: approval.approvalId,
    settledBy: high.settledBy ?? low.settledBy,
    replayed: high.replayed ?? low.replayed,
    attempts: high.attempts ?? low.attempts,
    durationMs: high.durationMs ?? low.durationMs,
    ...outcomeFrom(b.outcomeRank > a.outcomeRank ? b : a),
    settledAt: high.settledAt ?? low.settledAt,
    firstSeen: earlier(a.firstSeen, b.firstSeen),
  };
}
