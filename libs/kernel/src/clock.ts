/** Time comes in as a value; a service's is its database's (persistence: database-clock), which also judges leases and expiries. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };
