import type { ExampleName } from './example-names.ts';
import type { Effects } from './examples.ts';
import type { Decision, FollowedRun } from './follow-run.ts';

/** The one document of `demo --json`. */
export interface DemoReport {
  readonly mode: 'embedded' | 'stack';
  /** From the start of this command to the first run accepted. */
  readonly startupMs: number;
  readonly services: readonly { readonly name: string; readonly pid: number | null }[];
  /** Addresses on loopback, as a client needs them (the local database with its local password). */
  readonly endpoints: {
    readonly http: string;
    readonly kafka: string | null;
    readonly postgres: string;
    readonly redis: string | null;
  };
  readonly runs: readonly ReportedRun[];
  /** Read back from the source systems; only what this start's tasks made. */
  readonly effects: Readonly<Record<string, Effects>>;
  /** Audit records of this start's runs, and whether the ledger that holds them was verified without a fault. */
  readonly audit: { readonly records: number; readonly verified: boolean };
}

export interface ReportedRun {
  readonly example: ExampleName;
  readonly runId: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly calls: readonly {
    readonly tool: string;
    readonly status: string;
    readonly callId: string;
    readonly providerCallId: string | null;
    readonly replayed: boolean;
    readonly errorCode: string | null;
  }[];
  readonly approvals: readonly Decision[];
}

export const reportedRun = (example: ExampleName, { run, approvals }: FollowedRun): ReportedRun => ({
  example,
  runId: run.runId,
  status: run.status,
  outcome: run.outcome,
  calls: run.calls.map(({ tool, status, callId, providerCallId, replayed, errorCode }) => ({
    tool,
    status,
    callId,
    providerCallId,
    replayed,
    errorCode,
  })),
  approvals,
});
