import { message, TOPICS, type Message, type MessageContext } from '#contracts';
import { APPROVAL_ID_PATTERN, derivedId, digestJson, newId, type Clock, type ErrorDetail } from '#kernel';
import type { Reads } from '#runtime';
import { hasRole, ROLES, type Caller } from '../domain/caller.ts';
import { HttpProblem, notFound } from '../domain/problem.ts';
import type { DecisionRequest, EditRequest, WithdrawalRequest } from '../domain/requests.schema.ts';
import { publicView, type View } from '../domain/views.ts';
import {
  decidedSo,
  DONE,
  editedBy,
  otherwise,
  outcomeIn,
  rolesOf,
  withdrawnBy,
  type Outcome,
} from './approval-outcome.ts';
import type { CommandExchange } from './command-exchange.ts';
import { keys } from './watchers.ts';

/** How long a decision waits to learn whether it counts; policy answers in milliseconds. */
const DECISION_WAIT_MS = 15_000;

export interface DecisionOptions {
  readonly key?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly isGone?: (() => boolean) | undefined;
  /** Throws when the caller has looked at another state than this one. */
  readonly isCurrent?: ((view: View) => void) | undefined;
}

/** Approvals, as policy's read port shows them; decisions, as commands to policy, which alone judges them. */
export class ApprovalDesk {
  readonly #reads: Reads;
  readonly #exchange: CommandExchange;
  readonly #clock: Clock;

  constructor(reads: Reads, exchange: CommandExchange, clock: Clock) {
    this.#reads = reads;
    this.#exchange = exchange;
    this.#clock = clock;
  }

  list(
    tenant: string,
    query: { status?: string | undefined; limit: number; after?: string | undefined },
  ): Promise<unknown> {
    return this.#reads.read('policy', 'approvals', { ...query, tenant });
  }

  /** @throws HttpProblem 404, also for an approval of another tenant */
  async show(tenant: string, approvalId: string): Promise<View> {
    const found = APPROVAL_ID_PATTERN.test(approvalId)
      ? await this.#reads.read<View | null>('policy', 'approval', { tenant, approvalId })
      : null;
    if (!found || (found.tenant !== undefined && found.tenant !== tenant)) throw notFound('approval');
    return found;
  }

  /**
   * Decides once; the same decision of the same person again is answered as before.
   * @returns the approval as it is then
   * @throws HttpProblem 403, 404, 412 (If-Match), 409 (stale digest, decided otherwise, expired: with the approval as it is)
   */
  async decide(caller: Caller, approvalId: string, request: DecisionRequest, options: DecisionOptions): Promise<View> {
    const { tenant, principal } = caller;
    const view = await this.show(tenant, approvalId);
    requireApprover(caller, view);
    if (decidedSo(view, caller, request)) return view;
    options.isCurrent?.(view);
    const commandId = idOfCommand(options.key, tenant, principal.id, approvalId, request.decision, request.digest);
    const data = { ...request, commandId, approvalId, principal, reason: request.reason ?? null };
    const command = message('DecideApproval', this.#contextOf(view, options), data);
    const outcome = await this.#send(command, approvalId, options, (now) => {
      if (decidedSo(now, caller, request)) return DONE;
      return now.status === 'pending' ? undefined : otherwise(now);
    });
    const now = await this.show(tenant, approvalId);
    if (outcome === DONE) return now;
    throw await this.#refused(outcome, now, request.digest);
  }

  /**
   * Proposes other arguments for the call: nothing is approved, and a call of its own is asked about.
   * @returns the approval as it is then, with the callId of the edited call
   * @throws HttpProblem 400 (arguments that do not fit), 403, 404, 412, 409 (stale digest, decided already)
   */
  async edit(caller: Caller, approvalId: string, request: EditRequest, options: DecisionOptions): Promise<View> {
    const { tenant, principal } = caller;
    const view = await this.show(tenant, approvalId);
    requireApprover(caller, view);
    if (!editedBy(view, caller)) options.isCurrent?.(view);
    const { digest, arguments: args, reason = null } = request;
    const edit = digestJson('approval-edit/v1', args);
    const commandId = idOfCommand(options.key, tenant, principal.id, approvalId, 'edited', digest, edit);
    const data = { commandId, approvalId, digest, arguments: args, principal, reason };
    const command = message('EditApproval', this.#contextOf(view, options), data);
    const outcome = await this.#send(command, approvalId, options, (now) => {
      if (editedBy(now, caller)) return DONE;
      return now.status === 'pending' ? undefined : otherwise(now);
    });
    const now = await this.show(tenant, approvalId);
    if (outcome === DONE) return now;
    throw await this.#refused(outcome, now, digest);
  }

  /**
   * The one who asked, or who keeps the tenant's runs, takes the question back.
   * @returns the approval as it is then
   * @throws HttpProblem 403, 404, 409 (decided or ended already: with the approval as it is)
   */
  async withdraw(
    caller: Caller,
    approvalId: string,
    request: WithdrawalRequest,
    options: DecisionOptions,
  ): Promise<View> {
    const { tenant, principal } = caller;
    const view = await this.show(tenant, approvalId);
    if (withdrawnBy(view, caller)) return view;
    const commandId = idOfCommand(options.key, tenant, principal.id, approvalId, 'withdraw');
    const data = { commandId, approvalId, principal, reason: request.reason ?? null };
    const command = message('WithdrawApproval', this.#contextOf(view, options), data);
    const outcome = await this.#send(command, approvalId, options, (now) => {
      if (withdrawnBy(now, caller)) return DONE;
      return now.status === 'pending' ? undefined : otherwise(now);
    });
    const now = await this.show(tenant, approvalId);
    if (outcome === DONE) return now;
    throw await this.#refused(outcome, now, String(now.digest));
  }

  #contextOf(view: View, { correlationId }: DecisionOptions): MessageContext {
    const { tenant, runId, callId } = view;
    return {
      tenant: String(tenant),
      runId: String(runId),
      callId: String(callId),
      correlationId,
      now: this.#clock.now(),
    };
  }

  async #send(
    command: Message<'DecideApproval' | 'EditApproval' | 'WithdrawApproval'>,
    approvalId: string,
    options: DecisionOptions,
    read: (now: View) => Outcome | undefined,
  ): Promise<Outcome> {
    const key = keys.command(command.tenant, command.data.commandId);
    const outcome = await this.#exchange.run<Outcome>({
      topic: TOPICS.approvalCommands,
      command,
      watched: [key],
      waitMs: DECISION_WAIT_MS,
      isGone: options.isGone,
      look: (watch) => outcomeIn(watch, key),
      ask: async () => read(await this.show(command.tenant, approvalId)),
    });
    if (outcome !== null) return outcome;
    const detail = 'The command was taken in, but policy has not answered yet; look at the approval again';
    throw new HttpProblem(503, 'INTERNAL', detail, { headers: { 'retry-after': '1' } });
  }

  /** A conflict shows the approval as it is; where what was seen is no longer what is asked, also what changed. */
  async #refused(
    { code, message: text, details = [] }: Exclude<Outcome, symbol>,
    now: View,
    digest: string,
  ): Promise<HttpProblem> {
    if (code === 'INVALID_ARGS') return new HttpProblem(400, code, text, { details: details as ErrorDetail[] });
    const status = code === 'PERMISSION_DENIED' ? 403 : code === 'NOT_FOUND' ? 404 : 409;
    if (status !== 409) return new HttpProblem(status, code, text);
    const { tenant, approvalId } = now;
    const change =
      code === 'APPROVAL_MISMATCH'
        ? await this.#reads.read<Change | null>('policy', 'approvalChange', { tenant, approvalId, digest })
        : null;
    const shown = change ? { current: publicView(change.current), changed: change.changed } : {};
    return new HttpProblem(status, code, text, { extension: { approval: publicView(now), ...shown } });
  }
}

function requireApprover(caller: Caller, view: View): void {
  if (!hasRole(caller, [ROLES.approver, ...rolesOf(view)]))
    throw new HttpProblem(403, 'PERMISSION_DENIED', 'Deciding needs the role approver');
}

interface Change {
  readonly current: View;
  /** Names of the bound fields that differ; null = the digest names no request about this call. */
  readonly changed: readonly string[] | null;
}

const idOfCommand = (key: string | undefined, ...parts: readonly string[]): string =>
  key === undefined ? newId('cmd') : derivedId('cmd', ...parts, key);
