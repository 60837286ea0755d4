import type { Writable } from 'node:stream';
import pg from 'pg';
import { faults, InfrastructureError } from '#kernel';
import { withBinaryArrays } from './binary-arrays.ts';

/**
 * A service's own connection to its own schema. Drivers live only here.
 * Errors of connection, shutdown, serialization and deadlock come out as InfrastructureError: hold the work and try again.
 */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type Row = Record<string, unknown>;

/** A statement; give it a `name` to have it prepared once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

export interface Sql {
  query<R extends object = Row>(statement: Statement): Promise<R[]>;
  /** Number of rows that the statement changed. */
  change(statement: Statement): Promise<number>;
}
/** A running transaction. */
export type Tx = Sql & {
  readonly inTransaction: true;
  /**
   * Sends the last statements and the commit together: one round trip less. `send` must issue all its statements before
   * its first await, and nothing may depend on their answers; a statement that must not be missed has to fail.
   * @returns what `send` answers, after the commit
   */
  last<T>(send: () => Promise<T>): Promise<T>;
};
/** The row is there already: another commit was first. */
export const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown })?.code === '23505';

export interface DatabaseOptions {
  readonly url: string;
  /** Letters, digits and underscores; becomes the search path. */
  readonly schema: string;
  /** Connections; default 4. */
  readonly max?: number;
  readonly applicationName?: string;
}

const RETRY_IN_PLACE = /^(08|57P0|53|40001|40P01|55006)/;
/**
 * Every statement on a call's path reads by key. A prepared statement's plan is made while the tables are still empty, when
 * reading them whole looks cheap, and stays until the next analyze, minutes later: so the planner may not choose that.
 */
const BY_INDEX = ['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'jit=off'];
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Connection cut in mid-commit means "find out", never "did not happen": the caller repeats idempotent work. */
export function asInfrastructure(error: unknown): unknown {
  if (error instanceof InfrastructureError) return error;
  const code = (error as { code?: unknown })?.code;
  const text = error instanceof Error ? error.message : '';
  const away =
    (typeof code === 'string' && (RETRY_IN_PLACE.test(code) || NETWORK.has(code))) ||
    /Connection terminated|connection timeout|Client has encountered a connection error|timeout exceeded when trying to connect/i.test(
      text,
    );
  return away ? new InfrastructureError('the database is away', error) : error;
}

const raise = (error: unknown): never => {
  throw asInfrastructure(error);
};

const wrap = (client: { query(config: object): Promise<pg.QueryResult> }, check?: () => void): Sql => {
  const run = (statement: Statement): Promise<pg.QueryResult> => {
    check?.();
    return client
      .query(
        statement.values === undefined
          ? statement
          : { ...statement, values: withBinaryArrays(statement.text, statement.values) },
      )
      .catch(raise);
  };
  return {
    query: async <R extends object>(statement: Statement) => (await run(statement)).rows as R[],
    change: async (statement) => (await run(statement)).rowCount ?? 0,
  };
};

export class Database implements Sql {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #sql: Sql;

  constructor(options: DatabaseOptions) {
    if (!/^[a-z_][a-z0-9_]*$/.test(options.schema)) throw new TypeError(`not a schema name: ${options.schema}`);
    this.schema = options.schema;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.max ?? 4,
      application_name: options.applicationName ?? `countersign-${options.schema}`,
      options: [`search_path=${options.schema}`, ...BY_INDEX].map((setting) => `-c ${setting}`).join(' '),
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 60_000,
      // Statements of one transaction may be sent before the answer to the one before: fewer round trips.
      pipeline: true,
    } as pg.PoolConfig);
    this.#pool.on('error', () => undefined); // an idle connection was cut; the next use reports it
    this.#pool.on('connect', (client) => client.on('error', () => undefined)); // cut while in use: its statements report it
    this.#sql = wrap(this.#pool as never);
  }

  query<R extends object = Row>(statement: Statement): Promise<R[]> {
    return this.#sql.query<R>(statement);
  }

  change(statement: Statement): Promise<number> {
    return this.#sql.change(statement);
  }

  /**
   * Runs `work` in one transaction and commits it.
   * @throws what `work` throws, after a rollback; InfrastructureError where the outcome of the commit cannot be known
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>, options: { readonly asyncCommit?: boolean } = {}): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw asInfrastructure(error);
    });
    let broken: Error | undefined;
    let committed: Promise<void> | undefined;
    const commit = async (): Promise<void> => {
      faults.at?.(this.schema, 'before-commit');
      const { command } = await this.#send(client, 'commit').catch(raise);
      if (command !== 'COMMIT') throw new Error(`the transaction ended by ${command}: a statement in it had failed`);
      faults.at?.(this.schema, 'after-commit');
    };
    const tx: Tx = {
      ...wrap({ query: (config) => this.#send(client, config) }, () => {
        if (committed) throw new Error('the commit of this transaction was sent already');
      }),
      inTransaction: true,
      last: async (send) => {
        const sent = send();
        committed = commit();
        committed.catch(() => undefined);
        const value = await sent;
        await committed;
        return value;
      },
    };
    try {
      // Sent together with the first statement of `work`: if it fails, so do they, and the transaction with them.
      const begun = this.#send(client, options.asyncCommit ? 'begin; set local synchronous_commit = off' : 'begin');
      begun.catch(() => undefined);
      const value = await work(tx);
      await begun.catch(raise);
      await (committed ?? commit());
      return value;
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Statements of one tick go out in one write. */
  #send(client: pg.PoolClient, statement: string | object): Promise<pg.QueryResult> {
    const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    return client.query(statement as never);
  }

  /** A session of its own, for advisory locks; give it back with `release`. */
  async session(): Promise<Sql & { release(destroy?: boolean): void }> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw asInfrastructure(error);
    });
    return { ...wrap(client as never), release: (destroy) => client.release(destroy === true) };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
