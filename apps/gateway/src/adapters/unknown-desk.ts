import { message, TOPICS, type Message, type ResolveCall } from '#contracts';
import { CALL_ID_PATTERN, derivedId, newId, runIdOfCall, type Clock } from '#kernel';
import type { Reads } from '#runtime';
import type { Caller } from '../domain/caller.ts';
import { HttpProblem, notFound, refusedByRun } from '../domain/problem.ts';
import type { ResolveRequest } from '../domain/requests.schema.ts';
import { publicCall, type View } from '../domain/views.ts';
import type { CommandExchange } from './command-exchange.ts';
import type { RunViews } from './run-views.ts';
import { throwRefusedByRun } from './watched-answers.ts';
import { keys } from './watchers.ts';

/** How long a resolution waits to learn whether it counts, and the view to show it. */
const RESOLVE_WAIT_MS = 15_000;
const VIEW_WAIT_MS = 2_000;
const VIEW_PAUSE_MS = 20;

export interface ResolveOptions {
  readonly key?: string | undefined;
  readonly requestDigest: string;
  readonly correlationId?: string | undefined;
  readonly isGone?: (() => boolean) | undefined;
}

interface Known {
  readonly amendment: number;
  readonly commandId: string | null;
}

/**
 * Calls whose outcome nobody knows, and what people say of them. The call's pool alone decides.
 * N1 a call of another tenant is not there (404); one that is not unknown is a conflict that names its state (409);
 * N2 the same key and content is the same command, which counts once and is answered as before;
 * N3 of several finders one wins: the others are answered 409 with the call as it is.
 */
export class UnknownDesk {
  readonly #reads: Reads;
  readonly #views: RunViews;
  readonly #exchange: CommandExchange;
  readonly #clock: Clock;

  constructor(parts: { reads: Reads; views: RunViews; exchange: CommandExchange; clock: Clock }) {
    this.#reads = parts.reads;
    this.#views = parts.views;
    this.#exchange = parts.exchange;
    this.#clock = parts.clock;
  }

  list(tenant: string, query: { readonly limit: number; readonly after?: string | undefined }): Promise<unknown> {
    return this.#reads.read('state-store', 'unknowns', { ...query, tenant });
  }

  /**
   * @returns the call as it is then: decided, or `needs_human` with what was proposed where a second person must agree
   * @throws HttpProblem 403, 404, 409, 503
   */
  async resolve(caller: Caller, callId: string, request: ResolveRequest, options: ResolveOptions): Promise<View> {
    const { tenant, principal } = caller;
    const view = CALL_ID_PATTERN.test(callId) ? await this.#views.call(tenant, callId) : null;
    if (!view) throw notFound('call');
    const runId = runIdOfCall(callId);
    const commandId =
      options.key === undefined
        ? newId('cmd')
        : derivedId('cmd', tenant, principal.id, callId, 'ResolveCall', options.key, options.requestDigest);
    const data: ResolveCall = { ...request, commandId, callId, principal };
    const now = this.#clock.now();
    const [refused, reconciled] = [keys.command(tenant, commandId), keys.reconciled(tenant, callId)];
    const known = await this.#exchange.run<Known>({
      topic: TOPICS.runCommands,
      command: message(
        'ResolveCall',
        { tenant, runId, correlationId: options.correlationId, now, id: commandId },
        data,
      ),
      watched: [refused, reconciled],
      waitMs: RESOLVE_WAIT_MS,
      isGone: options.isGone,
      look: (watch) => {
        throwRefusedByRun(watch, refused);
        const byPool = watch.get(refused, 'ResolutionRefused');
        if (byPool) throw refusedByRun(byPool.data);
        const found = watch.get(reconciled, 'CallReconciled');
        return found && this.#isAnswer(found, commandId) ? found.data : undefined;
      },
      ask: async () => {
        const known = amendmentOf(await this.#views.call(tenant, callId));
        return known?.commandId === commandId ? known : undefined;
      },
    });
    if (known === null) {
      const detail = 'The resolution was taken in, but the pool has not answered yet; look at the call again';
      throw new HttpProblem(503, 'INTERNAL', detail, { headers: { 'retry-after': '1' } });
    }
    const shown = await this.#shown(tenant, callId, known.amendment);
    if (known.commandId === commandId) return shown;
    const detail = `The outcome was found out meanwhile: the call is "${String(shown.status)}"`;
    throw new HttpProblem(409, 'INVALID_ARGS', detail, { extension: { call: publicCall(shown, '') } });
  }

  /** A final word of somebody else ends the wait as well; one that leaves it open does not. */
  #isAnswer(found: Message<'CallReconciled'>, commandId: string): boolean {
    return found.data.commandId === commandId || found.data.status !== 'needs_human';
  }

  /** The views follow the events by moments. */
  async #shown(tenant: string, callId: string, amendment: number): Promise<View> {
    for (const end = performance.now() + VIEW_WAIT_MS; ;) {
      const view = await this.#views.call(tenant, callId);
      const isCurrent = (amendmentOf(view)?.amendment ?? 0) >= amendment;
      if (view && (isCurrent || performance.now() > end)) return view;
      await new Promise((resolve) => setTimeout(resolve, VIEW_PAUSE_MS));
    }
  }
}

function amendmentOf(view: View | null): Known | null {
  const found = view?.reconciliation as Partial<Known> | null | undefined;
  return typeof found?.amendment === 'number'
    ? { amendment: found.amendment, commandId: found.commandId ?? null }
    : null;
}
