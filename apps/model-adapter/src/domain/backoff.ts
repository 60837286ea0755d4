const BASE_MS = 500;
const CAP_MS = 8_000;

/**
 * Milliseconds to wait after attempt number `attempt` (from 1): full jitter under an exponential cap, and never
 * less than what the provider asked for.
 * @param random in [0, 1)
 */
export function backoffMs(attempt: number, retryAfterMs: number | null, random: number): number {
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1));
  return Math.round((retryAfterMs ?? 0) + random * ceiling);
}
