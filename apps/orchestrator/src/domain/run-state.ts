import type {
  AgentRef,
  Budgets,
  Leftover,
  OnFailure,
  Principal,
  RunEnded,
  RunOutcome,
  RunStatus,
  Stages,
  StartRun,
  ToolRef,
} from '#contracts';
import { isOut, isSettled, type Call, type OutCall } from './call-state.ts';
import type { Control, Controlled, HandBack } from './run-control.ts';
import type { StagePlace } from './stages.ts';
import type { Charged, Reserved } from './tenant-use.ts';

/**
 * What the saga coordinator knows of one run. Written once: the definition. Rewritten by each transition: the state.
 *
 * R1 every proposal that was accepted is one entry of `calls`, in the order of proposing, for ever.
 * R2 a call only moves up in rank: held → proposed → asked → decided → settled.
 * R3 an ended run proposes nothing, asks no model and has no timer; late settlements are kept, nobody is told again.
 * R4 an ended run goes on in its next episode: one that ended as budget_exhausted with a limit raised, any run to undo
 *    what it has done (compensation.ts); a run that was on its way back is never resumed.
 * R5 what a run has used only grows, over all its episodes.
 */
export interface Run {
  readonly definition: RunDefinition;
  readonly state: RunState;
  /** Dense per tenant; given by the table when the run is first saved. */
  readonly runNo: number | null;
}

export interface RunDefinition {
  readonly runId: string;
  readonly tenant: string;
  readonly driver: StartRun['driver'];
  readonly principal: Principal;
  readonly requestDigest: string;
  readonly agent?: AgentRef | undefined;
  readonly input?: string | undefined;
  readonly toolset: readonly ToolRef[];
  /** For undos alone. */
  readonly undoTools?: readonly ToolRef[] | undefined;
  readonly stages?: Stages | undefined;
  /** Absent: keep. */
  readonly onFailure?: OnFailure | undefined;
  readonly taskId?: string | undefined;
  /** As they were at the start; `budgetsOf` says which hold. */
  readonly budgets: Budgets;
  readonly labels: Readonly<Record<string, string>>;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly correlationId?: string | undefined;
}

export interface RunState {
  readonly phase: Phase;
  readonly calls: readonly Call[];
  /** The turns (agent) or ProposeCalls commands (client) that the calls came in, in order. */
  readonly batches: readonly Batch[];
  /** Absent: in the first one, if the run has any. */
  readonly stage?: StagePlace | undefined;
  /** Turns of the model that were folded. */
  readonly turns: number;
  /** Ids that the run's reads returned: what later calls may cite as evidence. */
  readonly sources: readonly string[];
  readonly clock: WallClock;
  readonly drive: Drive | null;
  readonly used: Used;
  /** Each began an episode; the first one began with the run. */
  readonly resumes: readonly Resume[];
  /** How often the outcome was told again after an end; absent = never. */
  readonly amendments?: number | undefined;
  /** A person's hand on the run; see control-run.transition.ts. */
  readonly control?: Control | undefined;
  /** What people ordered, in order. */
  readonly controls?: readonly Controlled[] | undefined;
  /** What the model is to be told with this turn. */
  readonly handBack?: HandBack | undefined;
  /** Absent: never thought of. */
  readonly compensation?: Compensation | undefined;
  /** What it has charged to the limits of its tenant, by meter; absent = there were none. */
  readonly charged?: Readonly<Record<string, Charged>> | undefined;
  readonly reserved?: Reserved | undefined;
  /** The CancelRun that was obeyed. */
  readonly cancelledBy?: string | undefined;
  /** Outcomes that the model was told to be unknown and that are known since: said with this turn. */
  readonly news?: readonly News[] | undefined;
}

export interface News {
  readonly callId: string;
  readonly turn: number;
}

/** What became of the run's way back; which calls were undone stands with the calls. */
export interface Compensation {
  readonly status: 'asked' | 'kept' | 'running' | 'done' | 'partial';
  readonly rounds: readonly Round[];
  /** The command that chose to keep. */
  readonly keptBy?: string | undefined;
}
export interface Order {
  /** null: the run's own onFailure. */
  readonly commandId: string | null;
  readonly by: string | null;
  /** Empty: all that can be taken back. */
  readonly leftovers: readonly Leftover[];
}
export interface Round extends Order {
  readonly callIds: readonly string[];
  readonly episode: number;
  /** It took back an end. */
  readonly reopened: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What was used of the limits that are not counted by the calls and turns themselves. */
export interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars, as far as they are known. */
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly resultBytes: number;
  /** Tokens of what the model has been sent and has written: the next request begins with them. */
  readonly contextTokens: number;
  /** Turns that were given up before a request was sent. */
  readonly unsentTurns: number;
}

export interface Resume {
  readonly commandId: string;
  /** All limits, from then on. */
  readonly budgets: Budgets;
  /** The first batch of the episode. */
  readonly batch: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

export type Phase =
  /** A client-driven run that takes proposals; calls may be open. */
  | { readonly name: 'open' }
  | { readonly name: 'awaiting_model'; readonly turn: number }
  /** The calls of the current turn, or the one direct call. */
  | { readonly name: 'awaiting_calls' }
  /** Takes nothing new; ends as said when the calls there are have settled. */
  | { readonly name: 'finishing'; readonly end: End }
  /** Its time is over or it was cancelled (by whom): nothing is begun, what is out is waited for, with a grace period. */
  | {
      readonly name: 'closing';
      readonly end: End;
      readonly since: number;
      readonly by?: string | undefined;
      /** Then it goes back, as a person has ordered. */
      readonly back?: Order | undefined;
    }
  /** It ended badly: a person says whether its effects are undone; without an answer they are kept. */
  | { readonly name: 'asking'; readonly end: End; readonly until: number }
  /** On its way back: undos are out. `stopped`: no further one begins. */
  | {
      readonly name: 'compensating';
      readonly end: End;
      readonly since: number;
      readonly stopped: boolean;
      /** Until when unknown outcomes are waited for that the runtime itself is finding out; null = no longer. */
      readonly seekUntil: number | null;
    }
  | { readonly name: 'ended'; readonly end: End; readonly outcome: RunOutcome; readonly at: number };
export type PhaseName = Phase['name'];

export interface End {
  readonly status: Extract<RunStatus, 'completed' | 'stopped' | 'failed' | 'cancelled' | 'budget_exhausted'>;
  readonly cause: RunEnded['cause'];
  /** Untrusted text of the model. */
  readonly answer: string | null;
}

export interface Batch {
  readonly commandId: string;
  readonly requestDigest: string | null;
  /** The person who proposed it instead of the driver. */
  readonly by?: string | undefined;
}

/** `since: null` = it stands still, because the run waits for a person alone. */
export interface WallClock {
  readonly leftMs: number;
  readonly since: number | null;
}

/** When what is outstanding is sent again, and how often it was. */
export interface Drive {
  readonly at: number;
  readonly tries: number;
}

export const isEnded = (run: Run): boolean => run.state.phase.name === 'ended';
export const budgetsOf = (run: Run): Budgets => run.state.resumes.at(-1)?.budgets ?? run.definition.budgets;
export const episodeOf = (run: Run): number =>
  run.state.resumes.length + 1 + roundsOf(run).filter((round) => round.reopened).length;
export const roundsOf = (run: Run): readonly Round[] => run.state.compensation?.rounds ?? [];
/** Undos that the way back waits for; one that was given up is out, and not waited for. */
export const awaitedUndos = ({ state: { calls } }: Run): OutCall[] =>
  calls.filter(isOut).filter(({ callId, undoes }) => {
    const undone = undoes === undefined ? undefined : calls.find((call) => call.callId === undoes);
    return undone?.state === 'settled' && undone.wayBack?.state === 'out' && undone.wayBack.undoCallId === callId;
  });
/** Cancelled (the run or its way back), and calls are still out. */
export const isCancelling = ({ state: { phase } }: Run): boolean =>
  (phase.name === 'closing' && phase.end.status === 'cancelled') || (phase.name === 'compensating' && phase.stopped);
/** The one way an end can be taken back. */
export const isResumable = ({ definition, state: { phase, compensation } }: Run): boolean =>
  definition.driver !== 'call' &&
  phase.name === 'ended' &&
  phase.end.status === 'budget_exhausted' &&
  (compensation === undefined || compensation.status === 'kept');

/** Nothing moves until a person decides: then the wall clock stands still. */
export function waitsForPerson(calls: readonly Call[]): boolean {
  const out = calls.filter(isOut);
  return out.length > 0 && out.every((call) => call.state === 'asked');
}

/** The state that people see. */
export function statusOf(state: RunState): RunStatus {
  const { phase, calls, control } = state;
  if (control) return control.kind;
  switch (phase.name) {
    case 'ended':
      return phase.end.status;
    case 'awaiting_model':
      return 'awaiting_model';
    case 'asking':
      return 'awaiting_user';
    case 'open':
    case 'awaiting_calls':
    case 'finishing':
    case 'closing':
    case 'compensating':
      if (waitsForPerson(calls)) return 'awaiting_approval';
      return calls.every(isSettled) ? 'running' : 'awaiting_calls';
  }
}

export const withState = (run: Run, change: Partial<RunState>): Run => ({ ...run, state: { ...run.state, ...change } });

export const withCall = (run: Run, changed: Call): Run =>
  withState(run, { calls: run.state.calls.map((call) => (call.callId === changed.callId ? changed : call)) });

/** Roles that may cancel, resume, pause and take over what others started. */
const KEEPERS: readonly string[] = ['operator', 'tenant-admin'];
export const mayKeep = ({ id, roles }: Principal, { definition }: Run): boolean =>
  id === definition.principal.id || roles.some((role) => KEEPERS.includes(role));
