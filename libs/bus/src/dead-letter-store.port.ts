import type { DeadLetter } from './bus.port.ts';

export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
}

/** Where the bus in process keeps its dead letters. */
export interface DeadLetterStore {
  /** Resolves when the letter is durable. @throws InfrastructureError when the store is away */
  put(letter: DeadLetter): Promise<void>;
  /** Newest first. */
  list(options?: { readonly group?: string; readonly limit?: number }): Promise<StoredDeadLetter[]>;
}
