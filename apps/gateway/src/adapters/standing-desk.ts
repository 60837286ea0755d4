import { message, TOPICS, type Message, type StandingRefused } from '#contracts';
import { derivedId, newId, STANDING_ID_PATTERN, type Clock } from '#kernel';
import type { Reads } from '#runtime';
import type { Caller } from '../domain/caller.ts';
import { HttpProblem, notFound } from '../domain/problem.ts';
import type { StandingRequest } from '../domain/requests.schema.ts';
import type { View } from '../domain/views.ts';
import type { DecisionOptions } from './approval-desk.ts';
import type { CommandExchange } from './command-exchange.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';
import { keys } from './watchers.ts';

const WAIT_MS = 15_000;
const DONE = Symbol('done');
type Outcome = typeof DONE | Pick<StandingRefused, 'code' | 'message'>;

const STATUS: Partial<Record<StandingRefused['code'], number>> = {
  INVALID_ARGS: 400,
  UNKNOWN_TOOL: 400,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
};

/** Standing grants, as policy's read port shows them; commands about them, which policy alone judges. */
export class StandingDesk {
  readonly #reads: Reads;
  readonly #exchange: CommandExchange;
  readonly #tools: ToolCatalogue;
  readonly #clock: Clock;

  constructor(reads: Reads, exchange: CommandExchange, tools: ToolCatalogue, clock: Clock) {
    this.#reads = reads;
    this.#exchange = exchange;
    this.#tools = tools;
    this.#clock = clock;
  }

  list(tenant: string, page: { limit: number; after?: string | undefined }): Promise<unknown> {
    return this.#reads.read('policy', 'standings', { ...page, tenant });
  }

  /** @throws HttpProblem 404, also for another tenant's */
  async show(tenant: string, standingId: string): Promise<View> {
    const found = await this.#find(tenant, standingId);
    if (!found) throw notFound('standing grant');
    return found;
  }

  /** The same request with the same key again is answered with what it gave. @throws HttpProblem 400, 403, 409, 503 */
  async grant(
    caller: Caller,
    request: StandingRequest,
    options: DecisionOptions & { requestDigest: string },
  ): Promise<View> {
    const { tenant, principal } = caller;
    const ref = await this.#tools.resolve(tenant, request.tool);
    if (!ref)
      throw new HttpProblem(400, 'UNKNOWN_TOOL', 'The tool is not published', {
        details: [{ path: '/tool', rule: 'known' }],
      });
    const parts = [tenant, principal.id, request.tool, options.requestDigest];
    const standingId = options.key === undefined ? newId('stand') : derivedId('stand', ...parts, options.key);
    const commandId = options.key === undefined ? newId('cmd') : derivedId('cmd', ...parts, options.key);
    const scope = {
      tool: ref.tool,
      contractDigest: ref.digest,
      principal: request.principal ?? null,
      resources: request.resources ?? null,
      maxAmount: request.maxAmount ?? null,
      totalAmount: request.totalAmount ?? null,
      uses: request.uses,
      expiresAt: request.expiresAt,
    };
    const data = { commandId, standingId, principal, scope, reason: request.reason ?? null };
    const context = { tenant, correlationId: options.correlationId, now: this.#clock.now() };
    await this.#send(message('GrantStanding', context, data), options, (now) => (now ? DONE : undefined));
    return this.show(tenant, standingId);
  }

  /** @throws HttpProblem 403, 404, 409, 503 */
  async revoke(caller: Caller, standingId: string, options: DecisionOptions): Promise<View> {
    const { tenant, principal } = caller;
    const view = await this.show(tenant, standingId);
    if (view.status === 'revoked') return view;
    const data = { commandId: newId('cmd'), standingId, principal };
    const context = { tenant, correlationId: options.correlationId, now: this.#clock.now() };
    await this.#send(message('RevokeStanding', context, data), options, (now) =>
      now?.status === 'revoked' ? DONE : undefined,
    );
    return this.show(tenant, standingId);
  }

  async #send(
    command: Message<'GrantStanding' | 'RevokeStanding'>,
    options: DecisionOptions,
    read: (now: View | null) => Outcome | undefined,
  ): Promise<void> {
    const { tenant } = command;
    const { commandId, standingId } = command.data;
    const key = keys.command(tenant, commandId);
    const outcome = await this.#exchange.run<Outcome>({
      topic: TOPICS.policyCommands,
      command,
      watched: [key],
      waitMs: WAIT_MS,
      isGone: options.isGone,
      look: (watch) =>
        watch.get(key, 'StandingGranted') || watch.get(key, 'StandingRevoked')
          ? DONE
          : watch.get(key, 'StandingRefused')?.data,
      ask: async () => read(await this.#find(tenant, standingId)),
    });
    if (outcome === DONE) return;
    if (outcome !== null) throw new HttpProblem(STATUS[outcome.code] ?? 409, outcome.code, outcome.message);
    const detail = 'The command was taken in, but policy has not answered yet; look at the standing grant again';
    throw new HttpProblem(503, 'INTERNAL', detail, { headers: { 'retry-after': '1' } });
  }

  async #find(tenant: string, standingId: string): Promise<View | null> {
    if (!STANDING_ID_PATTERN.test(standingId)) return null;
    return this.#reads.read<View | null>('policy', 'standing', { tenant, standingId });
  }
}
