import type { Database } from '#persistence';
import { migrate, readMigrations } from '#persistence';
import type { DeadLetter } from '../bus.port.ts';
import type { DeadLetterStore, StoredDeadLetter } from '../dead-letter-store.port.ts';

export const BUS_SCHEMA = 'bus';

interface LetterRow {
  id: number;
  consumer_group: string;
  topic: string;
  partition: number;
  record_offset: string;
  key: Buffer | null;
  value: Buffer | null;
  headers: Record<string, string>;
  handler_attempts: number;
  code: string;
  cause: string;
  at: Date;
}

/** Dead letters of the embedded mode, in the schema `bus` of its own database connection. */
export class PostgresDeadLetters implements DeadLetterStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Brings the schema up to date; before first use. */
  async migrate(): Promise<void> {
    await migrate(this.#database, readMigrations(new URL('../../migrations/', import.meta.url)));
  }

  async put(letter: DeadLetter): Promise<void> {
    const headers = Object.fromEntries(
      Object.entries(letter.headers).map(([name, value]) => [name, value.toString('base64')]),
    );
    await this.#database.change({
      name: 'put-dead-letter',
      text: `insert into dead_letter (consumer_group, topic, partition, record_offset, key, value, headers, handler_attempts, code, cause)
             values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10)`,
      values: [
        letter.group,
        letter.topic,
        letter.partition,
        letter.offset,
        letter.key,
        letter.value,
        JSON.stringify(headers),
        letter.handlerAttempts,
        letter.code,
        letter.cause.replaceAll('\0', ''), // text columns hold no NUL; the raw bytes are in `value`
      ],
    });
  }

  async list(options: { readonly group?: string; readonly limit?: number } = {}): Promise<StoredDeadLetter[]> {
    const rows = await this.#database.query<LetterRow>({
      name: 'list-dead-letters',
      text: `select * from dead_letter where $1::text is null or consumer_group = $1 order by id desc limit $2`,
      values: [options.group ?? null, options.limit ?? 100],
    });
    return rows.map((row) => ({
      id: String(row.id),
      at: row.at.toISOString(),
      group: row.consumer_group,
      topic: row.topic,
      partition: row.partition,
      offset: row.record_offset,
      key: row.key,
      value: row.value,
      headers: Object.fromEntries(
        Object.entries(row.headers).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
      ),
      handlerAttempts: row.handler_attempts,
      code: row.code,
      cause: row.cause,
    }));
  }
}
