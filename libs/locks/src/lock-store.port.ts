/**
 * What a lock server must be able to do; the waiting room does the rest. Each method is one round trip.
 * Callers hand in resources sorted and without repeats.
 */
export interface TakeRequest {
  readonly resources: readonly string[];
  readonly owner: string;
  readonly ttlMs: number;
  /** Keeps a place in the line of other processes when the answer is no. */
  readonly queue: boolean;
}

export interface LockStore {
  /** All or none. True when `owner` holds every resource now. @throws when the server cannot be asked */
  take(request: TakeRequest): Promise<boolean>;
  /** True when `owner` still holds every resource, now for `ttlMs` more. */
  renew(resources: readonly string[], owner: string, ttlMs: number): Promise<boolean>;
  /** Frees what `owner` holds or waits for; what another holds stays. */
  free(resources: readonly string[], owner: string): Promise<void>;
  close(): Promise<void>;
}
