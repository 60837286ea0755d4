import { message, TOPICS, type Message } from '#contracts';
import { callIdOf, derivedId, newId } from '#kernel';
import { checkScope } from './adapters/check-scope.ts';
import { endedView } from './adapters/ended-view.ts';
import { settledIn, throwRefusedByRun } from './adapters/watched-answers.ts';
import { keys, type Watch } from './adapters/watchers.ts';
import { refuseAbove } from './domain/budget-ceiling.ts';
import type { Caller } from './domain/caller.ts';
import { notFound } from './domain/problem.ts';
import type { CancelRequest, CompensateRequest, ProposalsRequest, ResumeRequest } from './domain/requests.schema.ts';
import type { Settlement } from './domain/result-view.ts';
import { proposalOf } from './domain/start-run.ts';
import { maySee, settlementOfView, type View } from './domain/views.ts';
import type { CallAnswer, IntakeOptions, IntakeParts, RunAnswer } from './gateway-intake.ts';

/** How long a command without a wait waits to learn whether the run takes it, and when the orchestrator is asked. */
const ANSWER_MS = 1_000;
const ASK_MS = 200;
const TAKEN = Symbol('taken');

type RunCommand = 'ProposeCalls' | 'FinishRun' | 'CancelRun' | 'ResumeRun' | 'CompensateRun' | ControlCommand;
export type ControlCommand = 'PauseRun' | 'TakeOverRun' | 'HandBackRun';
type Ended = Message<'RunEnded'> | View;

/**
 * Commands to runs that there are.
 * C1 a run of another tenant, or of another principal for those who see only their own, is not there (404);
 * C2 a command that the run refuses is answered with the refusal, also without a wait: a 202 says that none came in time;
 * C3 the same key and content name the same command, which the run obeys once.
 */
export class RunCommands {
  readonly #parts: IntakeParts;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Proposals of a client-driven run. @throws HttpProblem 403, 404, 409, 422 */
  async propose(
    caller: Caller,
    runId: string,
    request: ProposalsRequest,
    options: IntakeOptions,
  ): Promise<CallAnswer[]> {
    const { views, accepted, exchange, tools } = this.#parts;
    const { tenant } = caller;
    await this.#ownRun(caller, runId);
    const asked = request.calls.map(({ tool }) => tool);
    await checkScope(tools, caller, asked, (index) => `/calls/${index}/tool`);
    const own = options.key ?? newId('cmd');
    const proposals = request.calls.map((call, index) => proposalOf(call, callIdOf(runId, [own, String(index)])));
    const callIds = proposals.map((proposal) => proposal.callId);
    const commandId = derivedId('cmd', runId, own, options.requestDigest);
    const { requestDigest } = options;
    const command = this.#message('ProposeCalls', caller, runId, options, {
      commandId,
      principal: caller.principal,
      requestDigest,
      proposals,
    });
    const waits = options.waitMs > 0;
    const settled = new Map<string, Settlement>();
    const judged = (watch: Watch): boolean =>
      callIds.some((callId) => {
        const key = keys.judged(tenant, callId);
        return watch.get(key, 'CallAllowed') ?? watch.get(key, 'ApprovalRequested');
      });
    const enough = (taken: () => boolean): typeof TAKEN | undefined =>
      settled.size === callIds.length || (!waits && taken()) ? TAKEN : undefined;
    await exchange.run<typeof TAKEN>({
      topic: TOPICS.runCommands,
      command,
      watched: [
        keys.command(tenant, commandId),
        ...callIds.map((callId) => keys.settled(tenant, callId)),
        ...(waits ? [] : callIds.map((callId) => keys.judged(tenant, callId))),
      ],
      ...this.#patience(options),
      look: (watch) => {
        throwRefusedByRun(watch, keys.command(tenant, commandId));
        for (const callId of callIds) {
          const found = settledIn(watch, keys.settled(tenant, callId));
          if (found) settled.set(callId, found);
        }
        return enough(() => settled.size > 0 || judged(watch));
      },
      ask: async () => {
        for (const callId of callIds.filter((id) => !settled.has(id))) {
          const found = settlementOfView((await views.settledCall(tenant, callId)) ?? {}) ?? undefined;
          if (found) settled.set(callId, found);
        }
        const taken = waits ? false : await views.isAdmitted(tenant, callIds[0]!);
        return enough(() => taken);
      },
    });
    accepted.addCalls(
      tenant,
      runId,
      proposals.map((p) => ({ callId: p.callId, tool: p.tool, providerCallId: p.providerCallId ?? null })),
    );
    return callIds.map((callId) => ({ runId, callId, settled: settled.get(callId) ?? null }));
  }

  /** The client of a client-driven run is done. @throws HttpProblem 404, 409 */
  finish(caller: Caller, runId: string, options: IntakeOptions): Promise<RunAnswer> {
    const { principal } = caller;
    const commandId = this.#commandId(runId, 'FinishRun', options);
    const command = this.#message('FinishRun', caller, runId, options, { commandId, principal });
    return this.#end(caller, runId, options, { commandId, command, isIt: () => true });
  }

  /** Ends a run early: what is out is waited for. @throws HttpProblem 403, 404, 409 */
  cancel(caller: Caller, runId: string, { reason }: CancelRequest, options: IntakeOptions): Promise<RunAnswer> {
    const { principal } = caller;
    const commandId = this.#commandId(runId, 'CancelRun', options);
    const command = this.#message('CancelRun', caller, runId, options, { commandId, principal, reason });
    return this.#end(caller, runId, options, { commandId, command, isIt: (view) => view.status === 'cancelled' });
  }

  /** Raises limits of a run that ended by one. @throws HttpProblem 403, 404, 409 */
  async resume(caller: Caller, runId: string, request: ResumeRequest, options: IntakeOptions): Promise<RunAnswer> {
    const { principal } = caller;
    await this.#ownRun(caller, runId);
    refuseAbove(this.#parts.ceiling, request.budgets);
    const commandId = this.#commandId(runId, 'ResumeRun', options);
    const data = { commandId, principal, budgets: request.budgets };
    const command = this.#message('ResumeRun', caller, runId, options, data);
    return this.#episode(caller, runId, options, { commandId, command, begins: 'RunResumed' });
  }

  /** Undoes what a run has done, keeps it, or settles what an earlier way back has left. @throws HttpProblem 403, 404, 409 */
  async compensate(
    caller: Caller,
    runId: string,
    { decision, calls = [] }: CompensateRequest,
    options: IntakeOptions,
  ): Promise<RunAnswer> {
    const { principal } = caller;
    const commandId = this.#commandId(runId, 'CompensateRun', options);
    const command = this.#message('CompensateRun', caller, runId, options, { commandId, principal, decision, calls });
    // No view tells what a run that has ended was kept by.
    if (decision === 'keep') return this.#end(caller, runId, options, { commandId, command, isIt: () => false });
    await this.#ownRun(caller, runId);
    return this.#episode(caller, runId, options, { commandId, command, begins: 'CompensationStarted' });
  }

  /** A person's hand on a run, or off it. @throws HttpProblem 403, 404, 409 */
  async control(
    caller: Caller,
    runId: string,
    type: ControlCommand,
    { reason }: CancelRequest,
    options: IntakeOptions,
  ): Promise<RunAnswer> {
    const { tenant, principal } = caller;
    await this.#ownRun(caller, runId);
    const commandId = this.#commandId(runId, type, options);
    const key = keys.command(tenant, commandId);
    await this.#parts.exchange.run<typeof TAKEN>({
      topic: TOPICS.runCommands,
      command: this.#message(type, caller, runId, options, { commandId, principal, reason }),
      watched: [key],
      ...this.#patience(options),
      look: (watch) => {
        throwRefusedByRun(watch, key);
        return watch.get(key, 'RunControlled') && TAKEN;
      },
      ask: () => Promise.resolve(undefined),
    });
    return { runId, view: null };
  }

  async #end(
    caller: Caller,
    runId: string,
    options: IntakeOptions,
    { commandId, command, isIt }: { commandId: string; command: Message; isIt: (view: View) => boolean },
  ): Promise<RunAnswer> {
    const { views, exchange } = this.#parts;
    const { tenant } = caller;
    await this.#ownRun(caller, runId);
    const [commandKey, ended] = [keys.command(tenant, commandId), keys.ended(tenant, runId)];
    const found = await exchange.run<Ended>({
      topic: TOPICS.runCommands,
      command,
      watched: [commandKey, ended],
      ...this.#patience(options),
      look: (watch) => {
        throwRefusedByRun(watch, commandKey);
        return watch.get(ended, 'RunEnded');
      },
      ask: async () => {
        const view = await views.endedRun(tenant, runId);
        return view && isIt(view) ? view : undefined;
      },
    });
    return this.#answer(tenant, runId, found);
  }

  /** Until the end of the episode that the command begins. */
  async #episode(
    { tenant }: Caller,
    runId: string,
    options: IntakeOptions,
    {
      commandId,
      command,
      begins,
    }: { commandId: string; command: Message; begins: 'RunResumed' | 'CompensationStarted' },
  ): Promise<RunAnswer> {
    const [commandKey, ended] = [keys.command(tenant, commandId), keys.ended(tenant, runId)];
    const found = await this.#parts.exchange.run<Message<'RunEnded'> | typeof TAKEN>({
      topic: TOPICS.runCommands,
      command,
      watched: [commandKey, ended],
      ...this.#patience(options),
      look: (watch) => {
        throwRefusedByRun(watch, commandKey);
        const begun = watch.get(commandKey, begins);
        if (!begun) return undefined;
        if (options.waitMs === 0) return TAKEN;
        const end = watch.get(ended, 'RunEnded');
        return end && end.data.episode >= begun.data.episode ? end : undefined;
      },
      // Stored views may still be those of the episode before: only the run's own events tell.
      ask: () => Promise.resolve(undefined),
    });
    return this.#answer(tenant, runId, found);
  }

  async #answer(tenant: string, runId: string, found: Ended | typeof TAKEN | null): Promise<RunAnswer> {
    if (found === null || found === TAKEN) return { runId, view: null };
    return { runId, view: await endedView(this.#parts.views, tenant, runId, found) };
  }

  #patience({ waitMs, isGone }: IntakeOptions) {
    return waitMs > 0 ? { waitMs, isGone } : { waitMs: ANSWER_MS, firstAskMs: ASK_MS, isGone };
  }

  #commandId(runId: string, type: RunCommand, { key, requestDigest }: IntakeOptions): string {
    return key === undefined ? newId('cmd') : derivedId('cmd', runId, type, key, requestDigest);
  }

  #message<T extends RunCommand>(
    type: T,
    caller: Caller,
    runId: string,
    options: IntakeOptions,
    data: Parameters<typeof message<T>>[2],
  ): Message<T> {
    const now = this.#parts.clock.now();
    const { tenant } = caller;
    return message(type, { tenant, runId, correlationId: options.correlationId, now, id: data.commandId }, data);
  }

  /** C1 */
  async #ownRun(caller: Caller, runId: string): Promise<void> {
    const { accepted, views } = this.#parts;
    if (accepted.run(caller.tenant, runId)?.principalId === caller.principal.id) return;
    const run = await views.run(caller.tenant, runId);
    if (!run || !maySee(caller, run)) throw notFound('run');
  }
}
