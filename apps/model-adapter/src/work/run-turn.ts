import {
  decodeMessage,
  type LimitName,
  type Message,
  type RequestTurn,
  type ToolContract,
  type TurnFailed,
} from '#contracts';
import { CountersignError, faults, InfrastructureError, type Clock, type ErrorCode } from '#kernel';
import type { Database } from '#persistence';
import type { Provider, ProviderRequest, TranscriptItem, TurnToAsk } from '#providers';
import type { ClaimedTurn } from '../adapters/claim-turns.query.ts';
import { loadTranscript } from '../adapters/transcript.repository.ts';
import { completedTurn, failedTurn, type TurnResponse } from '../domain/turn-response.ts';
import { isReserved, priced, reserveTurn, type NoRoom, type Price, type Reservation } from '../domain/reserve-turn.ts';
import { askProvider, type AskLimits, type Unusable } from './ask-provider.ts';

export interface ContractSource {
  byDigest(digest: string): Promise<ToolContract>;
}

export interface TurnDependencies {
  readonly database: Database;
  readonly contracts: ContractSource;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly limits: AskLimits;
  /** By model. */
  readonly prices: ReadonlyMap<string, Price>;
  /** Tokens that any one answer may have. */
  readonly maxOutputTokens: number;
  readonly clock: Clock;
}

/** What is to be committed for a turn that was worked on. */
export interface WorkedTurn {
  readonly response: TurnResponse;
  /** Items that stood in the transcript before. */
  readonly before: number;
  /** JSON texts to append: what was sent anew, then what came back. */
  readonly items: readonly string[];
  readonly offered: string | null;
  readonly attempts: number;
}

/**
 * Works on one turn outside any transaction. A repeat costs a provider request and nothing else: what it proposes
 * counts only once it is committed.
 * @throws InfrastructureError (try later), or the signal's reason (given up)
 */
export async function runTurn(claimed: ClaimedTurn, deps: TurnDependencies, signal: AbortSignal): Promise<WorkedTurn> {
  const request = decodeMessage(claimed.request) as Message<'RequestTurn'>;
  const stored = await loadTranscript(deps.database, claimed.runId);
  const transcript = stored.map((row) => JSON.parse(row.item) as TranscriptItem);
  const { agent, turn } = request.data;
  const provider = deps.providers.get(agent.provider);
  let sent: TranscriptItem[] = [];
  const ended = (
    response: TurnResponse,
    came: readonly TranscriptItem[],
    offered: string | null,
    attempts: number,
  ): WorkedTurn => ({
    response,
    before: stored.length,
    items: [...sent, ...came].map((item) => JSON.stringify(item)),
    offered,
    attempts,
  });
  const failed = (code: ErrorCode, message: string, more: Pick<TurnFailed, 'limit' | 'usage'> = {}): TurnResponse =>
    failedTurn(contextOf(request, deps.clock), { turn, code, message, ...more });
  try {
    if (!provider) throw new CountersignError('INVALID_ARGS', `No provider with the name ${agent.provider} is set up`);
    const { input, results, note } = request.data;
    sent = [...provider.openItems(input), ...provider.resultItems(transcript, results), ...provider.openItems(note)];
    const tools = await Promise.all(request.data.toolset.map((ref) => deps.contracts.byDigest(ref.digest)));
    const whole = [...transcript, ...sent];
    const { model, instructions } = agent;
    const { parallelToolCalls, toolChoice } = request.data;
    const toAsk = { model, instructions, transcript: whole, tools, parallelToolCalls, toolChoice };
    const reserved = reserve(request.data, provider, toAsk, deps);
    if (!isReserved(reserved))
      return ended(failed('BUDGET_EXHAUSTED', reserved.message, limitOf(reserved.limit)), [], null, 0);
    const wire = provider.buildRequest({ ...toAsk, maxOutputTokens: reserved.maxOutputTokens });
    const offered = JSON.stringify(offeredIn(wire));
    faults.at?.('model-adapter', 'before-send');
    const { answer, attempts } = await askProvider(provider, wire, { turn, transcript: whole }, deps.limits, signal);
    faults.at?.('model-adapter', 'after-answer');
    const usage = priced(reserved, answer.usage);
    if (answer.kind === 'unusable') {
      const limit = cutOffBy(answer, reserved);
      const response =
        limit === 'tenant'
          ? failed('BUDGET_EXHAUSTED', answer.message, { usage })
          : failed(answer.code, answer.message, { usage, ...limitOf(limit) });
      return ended(response, [], offered, attempts);
    }
    const { proposals, text, responseId } = answer;
    const response = completedTurn(contextOf(request, deps.clock), {
      turn,
      proposals: [...proposals],
      text,
      responseId,
      usage,
    });
    return ended(response, response.state === 'completed' ? answer.items : [], offered, attempts);
  } catch (error) {
    if (error instanceof CountersignError && !(error instanceof InfrastructureError))
      return ended(failed(error.code, error.message), [], null, 0);
    throw error;
  }
}

/** Exactly what the model was shown, and whether it could, had to or must not call it (G14). */
const offeredIn = ({ tools = [], tool_choice: toolChoice = 'none' }: ProviderRequest) => ({ tools, toolChoice });

function reserve(
  data: RequestTurn,
  provider: Provider,
  toAsk: TurnToAsk,
  { prices, maxOutputTokens }: TurnDependencies,
): Reservation | NoRoom {
  const bytes = Buffer.byteLength(JSON.stringify(provider.buildRequest(toAsk)));
  return reserveTurn(data, prices.get(data.agent.model) ?? null, bytes, maxOutputTokens);
}

const limitOf = (limit: LimitName | null | undefined) => (limit == null ? {} : { limit });

/** An answer that was cut off because of what was left of the run's limit is the limit's doing, not the model's. */
const cutOffBy = ({ code, usage }: Unusable, { boundBy, maxOutputTokens }: Reservation): Reservation['boundBy'] =>
  code === 'MODEL_TRUNCATED' && (usage.outputTokens ?? maxOutputTokens) >= maxOutputTokens ? boundBy : null;

const contextOf = (request: Message<'RequestTurn'>, clock: Clock) => ({
  tenant: request.tenant,
  runId: request.runId!,
  causationId: request.id,
  correlationId: request.correlationId,
  now: clock.now(),
});
