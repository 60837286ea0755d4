import type {
  ApprovalDecided,
  ApprovalEdited,
  ApprovalRequested,
  CallCancellation,
  CallReconciled,
  CallSettled,
  CancelRun,
  CompensateRun,
  FinishRun,
  HandBackRun,
  MessageData,
  MessageType,
  PauseRun,
  ProposeCalls,
  ResolveCall,
  ResumeRun,
  StartRun,
  TakeOverRun,
  ToolContract,
  TurnCompleted,
  TurnFailed,
} from '#contracts';
import type { ErrorDetail } from '#kernel';
import type { Run } from './run-state.ts';
import type { Charged, TenantRoom } from './tenant-use.ts';

interface About {
  readonly runId: string;
  readonly tenant: string;
  readonly causationId?: string | undefined;
  readonly correlationId?: string | undefined;
}
interface AboutCall extends About {
  readonly callId: string;
}

/** Everything that can move a run. Commands may be refused; facts and timers never are. */
export type Input =
  | (About & { readonly type: 'StartRun'; readonly data: StartRun })
  | (About & { readonly type: 'ProposeCalls'; readonly data: ProposeCalls })
  | (About & { readonly type: 'FinishRun'; readonly data: FinishRun })
  | (About & { readonly type: 'CancelRun'; readonly data: CancelRun })
  | (About & { readonly type: 'ResumeRun'; readonly data: ResumeRun })
  | (About & { readonly type: 'CompensateRun'; readonly data: CompensateRun })
  | (About & { readonly type: 'ResolveCall'; readonly data: ResolveCall })
  | (About & { readonly type: 'PauseRun'; readonly data: PauseRun })
  | (About & { readonly type: 'TakeOverRun'; readonly data: TakeOverRun })
  | (About & { readonly type: 'HandBackRun'; readonly data: HandBackRun })
  | (About & { readonly type: 'TurnCompleted'; readonly data: TurnCompleted })
  | (About & { readonly type: 'TurnFailed'; readonly data: TurnFailed })
  | (AboutCall & { readonly type: 'ApprovalRequested'; readonly data: ApprovalRequested })
  | (AboutCall & { readonly type: 'ApprovalDecided'; readonly data: ApprovalDecided })
  | (AboutCall & { readonly type: 'ApprovalEdited'; readonly data: ApprovalEdited })
  | (AboutCall & {
      readonly type: 'CallCancellation';
      readonly data: CallCancellation;
      readonly from: SettlementSource;
    })
  | (AboutCall & { readonly type: 'CallSettled'; readonly data: CallSettled; readonly from: SettlementSource })
  | (AboutCall & { readonly type: 'CallReconciled'; readonly data: CallReconciled; readonly from: SettlementSource })
  /** A timer of the run is due: its wall clock, its grace period, or its next drive. */
  | (About & { readonly type: 'Woken' });
export type InputType = Input['type'];
export type InputOf<T extends InputType> = Extract<Input, { type: T }>;
export type CommandType =
  'StartRun' | 'ProposeCalls' | 'FinishRun' | 'CancelRun' | 'ResumeRun' | 'CompensateRun' | 'ResolveCall' | ControlType;
export type ControlType = 'PauseRun' | 'TakeOverRun' | 'HandBackRun';

/** Where a settlement came from: only the holder of the right to settle counts. */
export type SettlementSource =
  { readonly kind: 'policy' } | { readonly kind: 'pool'; readonly pool: string } | { readonly kind: 'other' };

/** A contract with the checker of its arguments. */
export interface ReadableContract {
  readonly contract: ToolContract;
  readonly validate: (
    args: unknown,
  ) =>
    | { readonly ok: true; readonly arguments: Record<string, unknown> }
    | { readonly ok: false; readonly details: readonly ErrorDetail[] };
}

/** `unreadable`: the registry has no such contract (G13: denied). Absent: not fetched yet. */
export type ContractShelf = ReadonlyMap<string, ReadableContract | 'unreadable'>;

export interface Env {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly contracts: ContractShelf;
  /** Tenants whose runs stand still. */
  readonly suspended?: ReadonlySet<string> | undefined;
  /** Absent: no tenant has a limit. */
  readonly tenants?: TenantRoom | undefined;
  /** What the run had charged before this step. */
  readonly before?: Readonly<Record<string, Charged>> | undefined;
}

/** Tells the caller to fetch these contracts and to decide again; nothing was decided. */
export class ContractsMissing extends Error {
  readonly digests: readonly string[];
  constructor(digests: readonly string[]) {
    super('contracts must be fetched first');
    this.digests = digests;
  }
}

/** A message to send: data only; ids are derived, so that a repeat is the same message. */
export interface Emission<T extends MessageType = MessageType> {
  readonly topic: string;
  readonly type: T;
  readonly id: string;
  readonly tenant: string;
  readonly runId: string;
  readonly callId?: string;
  readonly at: number;
  readonly causationId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly data: MessageData<T>;
}

/** Why an input changed nothing. */
export type Dropped = 'unknown_run' | 'unknown_call' | 'foreign' | 'late';

export interface Step {
  /** The same reference as before: nothing changed. */
  readonly run: Run | null;
  readonly out: readonly Emission[];
  readonly dropped?: Dropped;
}

/** A step without the input's own verdict: what followed from a state. */
export interface Advanced {
  readonly run: Run;
  readonly out: readonly Emission[];
}
