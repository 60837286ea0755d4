import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openJsonLines } from '../../json-lines.ts';

/**
 * Tickets in one append-only file of JSON lines.
 *
 * S1 a ticket is answered only after its line is on the disk (fsync).
 * S2 the same key with the same content gives the same ticket, also after a restart and between concurrent requests.
 * S3 the same key with other content changes nothing.
 * S4 a line that a crash cut off is dropped: nobody was told of it.
 */
export interface TicketInput {
  readonly severity: 'sev1' | 'sev2' | 'sev3';
  readonly summary: string;
  readonly evidence_ids: readonly string[];
}
export interface Ticket extends TicketInput {
  readonly id: string;
  readonly status: 'open';
  readonly created_at: string;
}
export interface StoredTicket {
  readonly ticket: Ticket;
  readonly key: string | null;
  readonly contentDigest: string;
}

export type CreateResult =
  { readonly kind: 'created' | 'known'; readonly ticket: Ticket } | { readonly kind: 'conflict' };

export class TicketStore {
  readonly #file: FileHandle;
  readonly #stored: StoredTicket[];
  readonly #byKey = new Map<string, StoredTicket>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle, stored: StoredTicket[]) {
    this.#file = file;
    this.#stored = stored;
    for (const entry of stored) if (entry.key !== null) this.#byKey.set(entry.key, entry);
  }

  static async open(dataDir: string): Promise<TicketStore> {
    const { file, entries } = await openJsonLines<StoredTicket>(dataDir, 'tickets.jsonl');
    return new TicketStore(file, entries);
  }

  get all(): readonly StoredTicket[] {
    return this.#stored;
  }

  /** One after the other: two requests with one key must meet. */
  create(input: TicketInput, key: string | null): Promise<CreateResult> {
    const result = this.#last.then(() => this.#create(input, key));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #create(input: TicketInput, key: string | null): Promise<CreateResult> {
    const contentDigest = digestOf(input);
    const known = key === null ? undefined : this.#byKey.get(key);
    if (known)
      return known.contentDigest === contentDigest ? { kind: 'known', ticket: known.ticket } : { kind: 'conflict' };
    const ticket: Ticket = {
      id: `INC-${1001 + this.#stored.length}`,
      status: 'open',
      ...input,
      created_at: new Date().toISOString(),
    };
    const entry: StoredTicket = { ticket, key, contentDigest };
    await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
    await this.#file.sync();
    this.#stored.push(entry);
    if (key !== null) this.#byKey.set(key, entry);
    return { kind: 'created', ticket };
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}

const digestOf = ({ severity, summary, evidence_ids }: TicketInput): string =>
  createHash('sha256')
    .update(JSON.stringify([severity, summary, evidence_ids]))
    .digest('hex');
