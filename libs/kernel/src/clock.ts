/** Time comes in as a value; leases and expiries are judged by the database's clock instead. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };
