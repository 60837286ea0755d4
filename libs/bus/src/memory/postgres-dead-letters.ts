import type { Database } from '#persistence';
import { migrate, readMigrations } from '#persistence';
import type { DeadLetter } from '../bus.port.ts';
import type { DeadLetterDesk, DeadLetterFilter, DeadLetterStore, StoredDeadLetter } from '../dead-letter-store.port.ts';

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
  replayed_at: Date | null;
}

/**
 * Dead letters of the embedded mode, in the schema `bus` of its own database connection. A replay is a row in the schema's
 * `outgoing`, in the commit that marks the letter: the outbox of the running process sends it, or that of the next one.
 */
export class PostgresDeadLetters implements DeadLetterStore, DeadLetterDesk {
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

  async list({ group, topic, limit, open }: DeadLetterFilter = {}): Promise<StoredDeadLetter[]> {
    const rows = await this.#database.query<LetterRow>({
      name: 'list-dead-letters',
      text: `select * from dead_letter
              where ($1::text is null or consumer_group = $1) and ($2::text is null or topic = $2)
                and (not $3 or replayed_at is null)
              order by id desc limit $4`,
      values: [group ?? null, topic ?? null, open ?? false, limit ?? 100],
    });
    return rows.map(letterOf);
  }

  async find(id: string): Promise<StoredDeadLetter | null> {
    if (!ID.test(id)) return null;
    const rows = await this.#database.query<LetterRow>({
      text: 'select * from dead_letter where id = $1',
      values: [id],
    });
    return rows[0] ? letterOf(rows[0]) : null;
  }

  async replay(id: string): Promise<boolean> {
    if (!ID.test(id)) return false;
    return this.#database.transaction(async (tx) => {
      const [row] = await tx.query<LetterRow>({
        text: 'update dead_letter set replayed_at = now() where id = $1 and replayed_at is null returning *',
        values: [id],
      });
      if (!row) return false;
      const letter = letterOf(row);
      const headers = Object.fromEntries(
        Object.entries(letter.headers).map(([name, value]) => [name, value.toString('utf8')]),
      );
      const body = letter.value ?? Buffer.alloc(0);
      await tx.change({
        text: `insert into outgoing (topics, keys, partition_keys, lengths, body, headers, next_at)
               values ($1, $2, $3, $4, $5, $6, now())`,
        values: [
          [letter.topic],
          [letter.key?.toString('utf8') ?? ''],
          [''],
          [body.length],
          body,
          Object.keys(headers).length === 0 ? null : JSON.stringify([headers]),
        ],
      });
      return true;
    });
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const ID = /^[0-9]{1,18}$/;

const letterOf = (row: LetterRow): StoredDeadLetter => ({
  id: String(row.id),
  at: row.at.toISOString(),
  replayedAt: row.replayed_at?.toISOString() ?? null,
  group: row.consumer_group,
  topic: row.topic,
  partition: row.partition,
  offset: row.record_offset,
  key: row.key,
  value: row.value,
  headers: Object.fromEntries(Object.entries(row.headers).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  handlerAttempts: row.handler_attempts,
  code: row.code,
  cause: row.cause,
});
