import type { LimitName, RequestTurn, Usage } from '#contracts';

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** What one request may use, fixed before it is sent. */
export interface Reservation {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  /** The run's limit that made it shorter than this process allows; null = none did. */
  readonly boundBy: LimitName | 'tenant' | null;
  /** null = the model has no price. */
  readonly price: Price | null;
}
export interface NoRoom {
  /** Absent: what the tenant has reserved. */
  readonly limit?: LimitName;
  readonly message: string;
}

/** The least that the provider takes as the limit of an answer. */
const MIN_OUTPUT_TOKENS = 16;
/** Few texts have more tokens than this many bytes each; the provider's own count is settled afterwards. */
const BYTES_PER_TOKEN = 3;
const MILLION = 1_000_000;
const LIMITS_OF_ANSWER = ['maxOutputTokens', 'maxCostUsd', 'tenant'] as const;

/**
 * Reserves a request before it is sent: an answer cannot become longer or dearer than what is left of the run's limits.
 * @param requestBytes size of the request as it will be sent
 * @param longest output tokens that this process lets any one answer have
 */
export function reserveTurn(
  { agent, limits }: Pick<RequestTurn, 'agent' | 'limits'>,
  price: Price | null,
  requestBytes: number,
  longest: number,
): Reservation | NoRoom {
  const inputTokens = Math.ceil(requestBytes / BYTES_PER_TOKEN);
  const base = { inputTokens, price };
  if (!limits) return { ...base, maxOutputTokens: longest, boundBy: null };
  const { maxOutputTokens, maxCostUsd, maxTokens = Infinity } = limits;
  if (maxCostUsd !== null && price === null)
    return {
      limit: 'allowUnknownCost',
      message: `no price is known for the model ${agent.model} (COUNTERSIGN_MODEL_PRICES), and the run has a limit of cost`,
    };
  const affordable =
    maxCostUsd === null || price === null
      ? Infinity
      : outputFor(price, maxCostUsd - (inputTokens * price.input) / MILLION);
  if (affordable < MIN_OUTPUT_TOKENS)
    return {
      limit: 'maxCostUsd',
      message: `${maxCostUsd?.toFixed(4)} US dollars are left, and the next turn needs about ${cost(price!, inputTokens, MIN_OUTPUT_TOKENS).toFixed(4)}`,
    };
  const reserved = maxTokens - inputTokens;
  if (reserved < MIN_OUTPUT_TOKENS)
    return { message: `the tenant has reserved ${maxTokens} tokens, and the request needs about ${inputTokens}` };
  const most = Math.min(longest, maxOutputTokens, affordable, reserved);
  const bounds = { maxOutputTokens, maxCostUsd: affordable, tenant: reserved } as const;
  const boundBy = most === longest ? null : LIMITS_OF_ANSWER.find((name) => bounds[name] === most)!;
  return { ...base, maxOutputTokens: most, boundBy };
}

const cost = (price: Price, input: number, output: number): number =>
  (input * price.input + output * price.output) / MILLION;

const outputFor = (price: Price, usd: number): number =>
  usd < 0 ? -1 : price.output === 0 ? Infinity : Math.floor((usd * MILLION) / price.output);

export const isReserved = (reserved: Reservation | NoRoom): reserved is Reservation => 'maxOutputTokens' in reserved;

/** What was used, priced. Figures that the provider did not give cost what was reserved for them. */
export function priced(reserved: Reservation, usage: Pick<Usage, 'inputTokens' | 'outputTokens'>): Usage {
  const { inputTokens, outputTokens } = usage;
  const { price } = reserved;
  const costUsd = price && cost(price, inputTokens ?? reserved.inputTokens, outputTokens ?? reserved.maxOutputTokens);
  return { inputTokens, outputTokens, costUsd };
}
