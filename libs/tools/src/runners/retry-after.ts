/** Milliseconds that a `Retry-After` asks for (both forms: seconds, or a date), at most an hour; null when it asks nothing. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /[a-z]/i.test(text) ? Date.parse(text) - nowMs : Number.NaN;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 3_600_000) : null;
}
