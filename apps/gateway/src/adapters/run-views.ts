import { CALL_ID_PATTERN, InfrastructureError, RUN_ID_PATTERN, runIdOfCall } from '#kernel';
import type { Reads } from '#runtime';
import type { Settlement } from '../domain/result-view.ts';
import { isEnded, isSettled, ownerOf, settlementOfView, type View } from '../domain/views.ts';
import type { AcceptedCall, AcceptedRun, AcceptedRuns } from './accepted-runs.ts';

/**
 * What is known of a run or call: the views of the state store, then the orchestrator, which knows what it admitted
 * before the views do, then what this process accepted. Every question names the tenant (G12).
 */
export class RunViews {
  readonly #reads: Reads;
  readonly #accepted: AcceptedRuns;

  constructor(reads: Reads, accepted: AcceptedRuns) {
    this.#reads = reads;
    this.#accepted = accepted;
  }

  /** @throws InfrastructureError when nobody who could know answers */
  async run(tenant: string, runId: string): Promise<View | null> {
    if (!RUN_ID_PATTERN.test(runId)) return null;
    const accepted = this.#accepted.run(tenant, runId);
    return this.#first([
      () => this.#ask('state-store', 'run', { tenant, runId }).then((view) => this.#withOwner(tenant, runId, view)),
      () => this.#ask('orchestrator', 'run', { tenant, runId }),
      () => Promise.resolve(accepted ? acceptedRun(accepted) : null),
    ]);
  }

  /** The run's view once it shows the end; undefined until then. */
  async endedRun(tenant: string, runId: string): Promise<View | undefined> {
    for (const service of ['state-store', 'orchestrator'] as const) {
      const view = await this.#ask(service, 'run', { tenant, runId }).catch(awayAsNull);
      if (view && isEnded(view)) return view;
    }
    return undefined;
  }

  /** @throws InfrastructureError when nobody who could know answers */
  async call(tenant: string, callId: string): Promise<View | null> {
    if (!CALL_ID_PATTERN.test(callId)) return null;
    const accepted = this.#accepted.call(tenant, callId);
    return this.#first([
      () =>
        this.#ask('state-store', 'call', { tenant, callId }).then((view) =>
          this.#withOwner(tenant, runIdOfCall(callId), view),
        ),
      () => this.#callOfRun(tenant, callId),
      () => Promise.resolve(accepted ? acceptedCall(accepted.run, accepted.call) : null),
    ]);
  }

  /** The call's view once it is settled; undefined until then. */
  async settledCall(tenant: string, callId: string): Promise<View | undefined> {
    const view = await this.#ask('state-store', 'call', { tenant, callId }).catch(awayAsNull);
    return view && isSettled(view) ? view : undefined;
  }

  /** Of the call, or of the one that a person wrote in its place; undefined until then. */
  async finalSettlement(tenant: string, callId: string): Promise<Settlement | undefined> {
    const settled = settlementOfView((await this.settledCall(tenant, callId)) ?? {}) ?? undefined;
    const next = settled?.error?.replacedBy;
    return next === undefined ? settled : this.finalSettlement(tenant, next);
  }

  /** Does the orchestrator have the call? */
  async isAdmitted(tenant: string, callId: string): Promise<boolean> {
    return (await this.#callOfRun(tenant, callId).catch(awayAsNull)) !== null;
  }

  /** The request that the admitted run was started by; undefined when it is not known (yet). */
  async requestDigest(tenant: string, runId: string): Promise<string | undefined> {
    for (const service of ['orchestrator', 'state-store'] as const) {
      const view = await this.#ask(service, 'run', { tenant, runId }).catch(awayAsNull);
      if (typeof view?.requestDigest === 'string') return view.requestDigest;
    }
    return undefined;
  }

  async #callOfRun(tenant: string, callId: string): Promise<View | null> {
    const runId = runIdOfCall(callId);
    const run = await this.#ask('orchestrator', 'run', { tenant, runId });
    const calls = (run?.calls ?? []) as readonly View[];
    const call = calls.find((candidate) => candidate.callId === callId);
    return call ? { runId, principal: run?.principal, contractDigest: null, ...call } : null;
  }

  /** A view that does not know yet who started the run: the orchestrator does. */
  async #withOwner(tenant: string, runId: string, view: View | null): Promise<View | null> {
    if (!view || ownerOf(view) !== null) return view;
    const accepted = this.#accepted.run(tenant, runId);
    if (accepted) return { ...view, principal: accepted.principalId };
    const run = await this.#ask('orchestrator', 'run', { tenant, runId }).catch(awayAsNull);
    return { ...view, principal: run?.principal ?? null };
  }

  /** A view of another tenant than the one asked for is none, whoever gives it. */
  async #ask(
    service: 'state-store' | 'orchestrator',
    question: string,
    args: { readonly tenant: string; readonly runId?: string; readonly callId?: string },
  ): Promise<View | null> {
    const view = await this.#reads.read<View | null>(service, question, args);
    return view && (view.tenant === undefined || view.tenant === args.tenant) ? view : null;
  }

  async #first(sources: readonly (() => Promise<View | null>)[]): Promise<View | null> {
    let away: InfrastructureError | undefined;
    for (const source of sources) {
      try {
        const view = await source();
        if (view) return view;
      } catch (error) {
        if (!(error instanceof InfrastructureError)) throw error;
        away = error;
      }
    }
    if (away) throw away;
    return null;
  }
}

function awayAsNull(error: unknown): null {
  if (error instanceof InfrastructureError) return null;
  throw error;
}

const acceptedRun = (run: AcceptedRun): View => ({
  runId: run.runId,
  principal: run.principalId,
  driver: run.driver,
  agent: run.agent,
  status: 'accepted',
  outcome: null,
  cause: null,
  answer: null,
  taskId: run.taskId,
  labels: run.labels,
  turns: 0,
  startedAt: null,
  endedAt: null,
  calls: run.calls.map((call) => ({
    ...call,
    status: 'accepted',
    errorCode: null,
    replayed: false,
    effect: null,
    approvalId: null,
  })),
  effects: [],
});

const acceptedCall = (run: AcceptedRun, call: AcceptedCall): View => ({
  ...call,
  runId: run.runId,
  principal: run.principalId,
  contractDigest: null,
  status: 'accepted',
  decision: null,
  approvalId: null,
  effect: null,
  replayed: false,
  attempts: 0,
  durationMs: null,
  result: null,
});
