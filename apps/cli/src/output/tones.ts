import type { Tone } from './output.ts';

const GOOD = new Set(['completed', 'succeeded', 'approved', 'consumed', 'applied', 'ok']);
const BAD = new Set([
  'failed',
  'denied',
  'rejected',
  'budget_exhausted',
  'expired',
  'outcome_unknown',
  'partially_applied',
  'needs_human',
  'invalid',
]);

/** The colour of a status; all that is neither good nor bad waits. */
export const toneOf = (status: string): Tone => (GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : 'wait');
