import type { Database } from '#persistence';
import type { LockStore, TakeRequest } from '../lock-store.port.ts';
import { createLockTable } from './create-lock-table.query.ts';
import { mergeCalls } from './merge-calls.ts';

interface Owned {
  readonly resources: readonly string[];
  readonly owner: string;
}

/** Locks as rows; calls of one moment share a statement, and no connection is held by a lock. */
export class PostgresStore implements LockStore {
  readonly #database: Database;
  readonly #take = mergeCalls((requests: readonly TakeRequest[]) => this.#takeAll(requests));
  readonly #renew = mergeCalls((requests: readonly (Owned & { ttlMs: number })[]) => this.#renewAll(requests));
  readonly #free = mergeCalls((requests: readonly Owned[]) => this.#freeAll(requests));

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Creates the table when it is not there. */
  static async open(database: Database): Promise<PostgresStore> {
    await createLockTable(database);
    return new PostgresStore(database);
  }

  take(request: TakeRequest): Promise<boolean> {
    return this.#take(request);
  }

  renew(resources: readonly string[], owner: string, ttlMs: number): Promise<boolean> {
    return this.#renew({ resources, owner, ttlMs });
  }

  free(resources: readonly string[], owner: string): Promise<void> {
    return this.#free({ resources, owner });
  }

  /** One statement for all; what a request got without getting all is given back before the answer. */
  async #takeAll(requests: readonly TakeRequest[]): Promise<boolean[]> {
    const wanted = new Map<string, TakeRequest>();
    // A statement changes a row once: of two that ask for one resource in one moment the first may have it.
    const asking = requests.map((request) => {
      const resources = request.resources.map(clean);
      if (resources.some((resource) => wanted.has(resource))) return null;
      for (const resource of resources) wanted.set(resource, request);
      return resources;
    });
    const asked = [...wanted];
    const rows = await this.#database.query<{ resource: string }>({
      name: 'take-locks',
      // Rows are locked in sorted order, so that two statements never wait for each other.
      text: `insert into resource_lock as l (resource, owner, until)
             select w.resource, w.owner, now() + w.ttl * interval '1 millisecond'
               from unnest($1::text[], $2::text[], $3::integer[]) as w (resource, owner, ttl)
              order by w.resource collate "C"
             on conflict (resource) do update set owner = excluded.owner, until = excluded.until
               where l.until <= now() or l.owner = excluded.owner
             returning l.resource`,
      values: [
        asked.map(([resource]) => resource),
        asked.map(([, { owner }]) => owner),
        asked.map(([, { ttlMs }]) => ttlMs),
      ],
    });
    if (rows.length === asked.length) return asking.map((resources) => resources !== null);
    const taken = new Set(rows.map((row) => row.resource));
    const answers = asking.map((resources) => resources?.every((resource) => taken.has(resource)) ?? false);
    const partly = requests.filter(
      (_, n) => !answers[n] && asking[n]?.some((resource) => taken.has(resource)) === true,
    );
    if (partly.length > 0) await this.#freeAll(partly);
    return answers;
  }

  async #renewAll(requests: readonly (Owned & { ttlMs: number })[]): Promise<boolean[]> {
    const rows = await this.#database.query<{ resource: string; owner: string }>({
      name: 'renew-locks',
      text: `update resource_lock l set until = now() + ttl * interval '1 millisecond'
               from unnest($1::text[], $2::text[], $3::int[]) as w (resource, owner, ttl)
              where l.resource = w.resource and l.owner = w.owner
             returning l.resource, l.owner`,
      values: [
        requests.flatMap((r) => r.resources.map(clean)),
        requests.flatMap((r) => r.resources.map(() => r.owner)),
        requests.flatMap((r) => r.resources.map(() => r.ttlMs)),
      ],
    });
    const kept = new Set(rows.map((row) => `${row.owner}\n${row.resource}`));
    return requests.map((r) => r.resources.every((resource) => kept.has(`${r.owner}\n${clean(resource)}`)));
  }

  async #freeAll(requests: readonly Owned[]): Promise<undefined[]> {
    await this.#database.change({
      name: 'free-locks',
      text: `delete from resource_lock l using unnest($1::text[], $2::text[]) as w (resource, owner)
              where l.resource = w.resource and l.owner = w.owner`,
      values: [
        requests.flatMap((r) => r.resources.map(clean)),
        requests.flatMap((r) => r.resources.map(() => r.owner)),
      ],
    });
    return requests.map(() => undefined);
  }

  close(): Promise<void> {
    return Promise.resolve(); // the database belongs to who gave it
  }
}

/** PostgreSQL's text holds no NUL. */
const clean = (resource: string): string => resource.replaceAll('\0', '\u2400');
