/** What the API answers, as far as the command line shows it; other fields pass through `--json`. */
export interface CallSummary {
  readonly callId: string;
  readonly tool: string | null;
  readonly status: string;
  readonly errorCode: string | null;
  readonly replayed: boolean;
  readonly effect: string | null;
  readonly approvalId: string | null;
  /** Of an undo: the call that it takes back. */
  readonly undoes?: string;
  readonly cancellation?: { readonly state: string; readonly evidence: string; readonly at: string } | null;
}

export interface RunView {
  readonly runId: string;
  readonly status: string;
  readonly driver?: string | null;
  readonly agent?: string | null;
  readonly principal?: string | null;
  readonly outcome?: string | null;
  readonly cause?: { readonly code: string; readonly message: string } | null;
  readonly answer?: string | null;
  readonly taskId?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly turns?: number;
  readonly stage?: string | null;
  readonly startedAt?: string | null;
  readonly endedAt?: string | null;
  readonly compensation?: string;
  readonly compensationReport?: {
    readonly remainder: readonly { readonly callId: string; readonly reason: string }[];
    readonly kept: readonly string[];
  } | null;
  readonly calls?: readonly CallSummary[];
  readonly effects?: readonly {
    readonly callId: string;
    readonly tool: string | null;
    readonly effect: string;
    readonly resourceIds: readonly string[];
  }[];
}

export interface CallView extends CallSummary {
  readonly runId: string;
  readonly principal?: string | null;
  readonly decision?: string | null;
  readonly attempts?: number;
  readonly durationMs?: number | null;
  readonly contractDigest?: string | null;
  /** Only of a call whose outcome was unknown. */
  readonly reconciliation?: {
    readonly by: string;
    readonly person: string | null;
    readonly proposed: string | null;
    readonly evidence: string;
    readonly at: string;
  };
  readonly result?:
    | { readonly ok: true; readonly data: unknown }
    | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } }
    | null;
}

export interface UnknownView extends CallView {
  readonly since: string | null;
  readonly ageMs: number;
  readonly needsHuman: boolean;
}

export interface ApprovalView {
  readonly approvalId: string;
  readonly callId: string;
  readonly runId: string;
  readonly status: string;
  readonly digest: string;
  readonly tool: string;
  readonly contractDigest: string;
  readonly policyDigest: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly origins: Readonly<Record<string, string>>;
  readonly resources: readonly string[];
  readonly risk: string;
  readonly sideEffects: string;
  readonly requester: { readonly id: string };
  readonly approverRoles: readonly string[];
  readonly reasons: readonly string[];
  readonly requestedAt?: string | null;
  readonly expiresAt: string;
  readonly quorum: number;
  readonly approvedBy: readonly string[];
  readonly supersededWhy: string | null;
  readonly replacedBy: string | null;
  readonly replacedByCall: string | null;
  readonly edited?: { readonly callId: string; readonly by: string };
  readonly facts?: { readonly values: Readonly<Record<string, string | number>> };
  readonly decidedBy: string | null;
  readonly decidedAt?: string | null;
  readonly reason?: string | null;
}

export interface ToolView {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly layer: string;
  readonly title: string;
  readonly description?: string;
  readonly whenToUse?: string;
  readonly whenNotToUse?: string;
  readonly sideEffects: string;
  readonly risk: string;
  readonly approval: string;
  readonly input?: unknown;
  readonly output?: unknown;
}

export interface ToolChangeView {
  readonly version: string | null;
  readonly change: string;
  readonly by: string;
  readonly reason: string | null;
  readonly at: string;
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'stopped', 'failed', 'budget_exhausted', 'cancelled']);
export const isEnded = (run: RunView): boolean => ENDED.has(run.status);

/** A limit of all runs of the tenant together. */
export interface TenantLimitView {
  readonly period: string;
  readonly name: string;
  readonly limit: string;
  readonly used: number;
  readonly most: number;
  readonly left: number;
  readonly renewsAt: string;
}
