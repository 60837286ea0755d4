import { message, TOPICS, type DecideApproval, type Message } from '#contracts';
import { APPROVAL_ID_PATTERN, derivedId, newId, type Clock } from '#kernel';
import type { Reads } from '#runtime';
import { hasRole, ROLES, type Caller } from '../domain/caller.ts';
import { HttpProblem, notFound } from '../domain/problem.ts';
import type { DecisionRequest } from '../domain/requests.schema.ts';
import { publicView, type View } from '../domain/views.ts';
import type { CommandExchange } from './command-exchange.ts';
import { keys, type Watch } from './watchers.ts';

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
    if (!hasRole(caller, [ROLES.approver, ...rolesOf(view)])) {
      throw new HttpProblem(403, 'PERMISSION_DENIED', 'Deciding needs the role approver');
    }
    if (decidedSo(view, caller, request)) return view;
    options.isCurrent?.(view);
    const commandId =
      options.key === undefined
        ? newId('cmd')
        : derivedId('cmd', tenant, principal.id, approvalId, request.decision, request.digest, options.key);
    const command: DecideApproval = { ...request, commandId, approvalId, principal, reason: request.reason ?? null };
    const key = keys.command(tenant, commandId);
    const answer = await this.#exchange.run<Outcome>({
      topic: TOPICS.approvalCommands,
      command: message(
        'DecideApproval',
        {
          tenant,
          runId: String(view.runId),
          callId: String(view.callId),
          correlationId: options.correlationId,
          now: this.#clock.now(),
        },
        command,
      ),
      watched: [key],
      waitMs: DECISION_WAIT_MS,
      isGone: options.isGone,
      look: (watch) => outcomeIn(watch, key),
      ask: async () => {
        const now = await this.show(tenant, approvalId);
        if (now.status === 'pending') return undefined;
        return decidedSo(now, caller, request) ? DECIDED : otherwise(now);
      },
    });
    if (answer === null) {
      const detail = 'The decision was taken in, but policy has not answered yet; look at the approval again';
      throw new HttpProblem(503, 'INTERNAL', detail, { headers: { 'retry-after': '1' } });
    }
    const now = await this.show(tenant, approvalId);
    if (answer === DECIDED) return now;
    const { code, message: text } = answer.data;
    const status = code === 'PERMISSION_DENIED' ? 403 : code === 'NOT_FOUND' ? 404 : 409;
    throw new HttpProblem(status, code, text, status === 409 ? { extension: { approval: publicView(now) } } : {});
  }
}

const DECIDED = Symbol('decided');
type Outcome = typeof DECIDED | Pick<Message<'ApprovalRefused'>, 'data'>;

function outcomeIn(watch: Watch, key: string): Outcome | undefined {
  if (watch.get(key, 'ApprovalDecided')) return DECIDED;
  return watch.get(key, 'ApprovalRefused');
}

const rolesOf = (view: View): string[] => (Array.isArray(view.approverRoles) ? (view.approverRoles as string[]) : []);

/** Was it this person who decided exactly this? */
function decidedSo(view: View, caller: Caller, request: DecisionRequest): boolean {
  const status = view.status === 'consumed' ? 'approved' : view.status;
  const by = view.decidedBy ?? view.approver;
  const id = typeof by === 'string' ? by : (by as { id?: string } | null | undefined)?.id;
  return status === request.decision && id === caller.principal.id && view.digest === request.digest;
}

const otherwise = (view: View): Outcome => ({
  data: {
    commandId: '',
    approvalId: String(view.approvalId),
    code: view.status === 'expired' ? 'APPROVAL_EXPIRED' : 'IDEMPOTENCY_CONFLICT',
    message: `The approval is ${String(view.status)} already`,
  },
});
