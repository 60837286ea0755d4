import type { DeadLetter } from './bus.port.ts';

export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  /** When a person had it sent again, RFC 3339; null = not yet. */
  readonly replayedAt: string | null;
}

export interface DeadLetterFilter {
  readonly group?: string | undefined;
  readonly topic?: string | undefined;
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Only those that were not replayed. */
  readonly open?: boolean | undefined;
}

/** Where the bus in process keeps its dead letters. */
export interface DeadLetterStore {
  /** Resolves when the letter is durable. @throws InfrastructureError when the store is away */
  put(letter: DeadLetter): Promise<void>;
  /** Newest first. */
  list(options?: DeadLetterFilter): Promise<StoredDeadLetter[]>;
}

/** What an operator does with dead letters, wherever the bus keeps them. */
export interface DeadLetterDesk {
  /** Newest first. */
  list(options?: DeadLetterFilter): Promise<StoredDeadLetter[]>;
  find(id: string): Promise<StoredDeadLetter | null>;
  /**
   * Sends the record's own bytes, key and headers to the topic that it came from, and records that. All groups of the
   * topic get it, as with every repetition (B2).
   * @returns false when it was replayed before: nothing is sent
   */
  replay(id: string): Promise<boolean>;
  close(): Promise<void>;
}
