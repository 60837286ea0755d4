import { UNKNOWN, type CallProgress, type RunProgress } from './run-progress.ts';

/** The answer of the state store's question `progress`. */
export interface StoredProgress {
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
  /** As of BackProgress. */
  readonly compensationRank: number;
  readonly compensation: string | null;
  readonly controls?: number;
  readonly control?: string | null;
  readonly stageNo?: number;
  readonly stage?: string | null;
  readonly calls: readonly StoredCall[];
}

interface StoredCall {
  readonly callId: string;
  /** 10·n + 1 = the nth judgement asked, 10·n + 2 = it granted; from 1e9 on: settled. */
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
  /** 1 = as the settlement says, 1 + n = as its nth amendment says. */
  readonly replacedBy?: string | null;
  readonly outcomeRank?: number;
  readonly reconciledBy?: string | null;
}

const STORED_SETTLED = 1_000_000_000;

/** Only an unknown outcome is ever amended: so the settlement said. */
const UNKNOWN_END = { status: 'outcome_unknown', errorCode: 'OUTCOME_UNKNOWN', effect: 'unknown' } as const;

export function progressOfStored(stored: StoredProgress | null): RunProgress {
  if (!stored) return UNKNOWN;
  const { driver, agent, taskId, labels, startedAt, status, endedRank: episode } = stored;
  const isOver = episode > 0 && status !== null;
  return {
    phase: isOver ? episode * 2 : episode > 0 ? episode * 2 + 1 : startedAt === null ? 0 : 1,
    started: startedAt === null ? null : { driver, agent, taskId, labels, startedAt },
    turns: stored.turns,
    controls: stored.controls ?? 0,
    control: stored.control ?? (stored.controls ? 'handed_back' : null),
    stage: stored.stageNo && stored.stage ? { no: stored.stageNo, name: stored.stage } : null,
    ended: isOver
      ? {
          episode,
          status,
          outcome: stored.outcome,
          cause: stored.cause,
          answer: stored.answer,
          turns: stored.turns,
          endedAt: stored.endedAt,
        }
      : null,
    callCount: null,
    back: {
      rank: stored.compensationRank,
      status: stored.compensationRank % 2 === 1 ? stored.compensation : null,
    },
    calls: new Map(stored.calls.map((call) => [call.callId, callOf(call)])),
  };
}

function callOf(call: StoredCall): CallProgress {
  const { tool, approvalId, approvalRank, status, settledBy, providerCallId, errorCode, effect, replayed } = call;
  // What is known of a call by its undo alone tells nothing of its own settlement.
  const isSettled = call.rank >= STORED_SETTLED && settledBy !== null;
  const amendment = isSettled ? Math.max(0, (call.outcomeRank ?? 1) - 1) : 0;
  const found = { status: settledAs(status), errorCode, effect };
  const said = amendment === 0 ? found : UNKNOWN_END;
  const no = Math.floor(call.rank / 10);
  const granted = !isSettled && call.rank % 10 === 2;
  const approved = isSettled ? settledBy === 'executor' : granted && approvalRank === no;
  return {
    tool,
    allowed: granted && approvalRank !== no,
    approvals: new Map(approvalId === null ? [] : [[approvalId, approved]]),
    superseded: new Map(),
    reconciled: amendment === 0 ? null : { amendment, ...found, reconciledBy: call.reconciledBy ?? null },
    settled: isSettled
      ? {
          status: said.status,
          settledBy,
          approvalId,
          providerCallId,
          errorCode: said.errorCode,
          effect: said.effect,
          replayed,
          attempts: call.attempts,
          durationMs: call.durationMs,
          replacedBy: call.replacedBy ?? null,
        }
      : null,
  };
}

/** What became of a call later is told by its undo: it had succeeded. */
const settledAs = (status: string): string =>
  status === 'compensated' || status === 'compensation_failed' ? 'succeeded' : status;
