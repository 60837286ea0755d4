import { runIdOfCall } from '#kernel';

export interface AcceptedCall {
  readonly callId: string;
  readonly tool: string;
  readonly providerCallId: string | null;
}

export interface AcceptedRun {
  readonly runId: string;
  readonly tenant: string;
  readonly principalId: string;
  readonly driver: 'agent' | 'client' | 'call';
  readonly agent: string | null;
  readonly taskId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly calls: AcceptedCall[];
}

/** What this process accepted a moment ago and the views may not show yet: the id of a 202 can be read at once. */
export class AcceptedRuns {
  readonly #runs = new Map<string, AcceptedRun>();
  readonly #limit: number;

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  add(run: AcceptedRun): void {
    if (this.#runs.has(run.runId)) return;
    this.#runs.set(run.runId, run);
    if (this.#runs.size <= this.#limit) return;
    for (const oldest of this.#runs.keys()) {
      this.#runs.delete(oldest);
      break;
    }
  }

  addCalls(tenant: string, runId: string, calls: readonly AcceptedCall[]): void {
    const run = this.run(tenant, runId);
    const known = new Set(run?.calls.map((call) => call.callId));
    run?.calls.push(...calls.filter((call) => !known.has(call.callId)));
  }

  run(tenant: string, runId: string): AcceptedRun | undefined {
    const run = this.#runs.get(runId);
    return run?.tenant === tenant ? run : undefined;
  }

  call(tenant: string, callId: string): { run: AcceptedRun; call: AcceptedCall } | undefined {
    const run = this.run(tenant, runIdOfCall(callId));
    const call = run?.calls.find((accepted) => accepted.callId === callId);
    return run && call ? { run, call } : undefined;
  }
}
