/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  /** `skipped`: nothing is set that could be looked at. */
  readonly state: 'ok' | 'wrong' | 'skipped';
  /** What was found. */
  readonly found: string;
  /** How to mend it; for `wrong`. */
  readonly remedy?: string;
}

/** What an error says, as a finding. */
export const wrong = (check: string, error: unknown, remedy: string): Finding => ({
  check,
  state: 'wrong',
  found: error instanceof Error ? error.message : String(error),
  remedy,
});
