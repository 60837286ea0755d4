import type { Clock } from '#kernel';
import type { Database } from './database.ts';

/** How often the database is asked again. */
const EVERY_MS = 10_000;
/** Looks differ by less. */
const NOISE_MS = 5_000;

/**
 * The time of the database, as this process can tell it without asking.
 *
 * C1 what has an end (approvals, grants, deadlines) is written by this clock and judged by the database's own now(): two
 *    processes, or a process and the database, never disagree by more than a round trip, whatever the system clocks say.
 * C2 between two looks it goes on by the monotonic clock: a jump of the system's time changes nothing.
 * C3 it does not go back by what the looks differ; a database whose own clock is set back is followed. One that is away
 *    leaves it as it is.
 */
export class DatabaseClock implements Clock {
  readonly #database: Database;
  readonly #monotonic: () => number;
  /** Milliseconds since the epoch at monotonic zero. */
  #zero = 0;
  #last = 0;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  /** @throws InfrastructureError when the database is away */
  static async open(database: Database, monotonic: () => number = () => performance.now()): Promise<DatabaseClock> {
    const clock = new DatabaseClock(database, monotonic);
    await clock.look();
    return clock;
  }

  private constructor(database: Database, monotonic: () => number) {
    this.#database = database;
    this.#monotonic = monotonic;
  }

  now(): number {
    const now = Math.floor(this.#zero + this.#monotonic());
    if (now > this.#last || this.#last - now > NOISE_MS) this.#last = now;
    return this.#last;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#looking = this.look().catch(() => undefined); // C3
    }, EVERY_MS);
    this.#timer.unref();
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#looking;
  }

  /** Asks the database. */
  async look(): Promise<void> {
    const before = this.#monotonic();
    const [row] = await this.#database.query<{ now: number }>({
      text: `select (extract(epoch from clock_timestamp()) * 1000)::double precision as now`,
    });
    this.#zero = row!.now - (before + this.#monotonic()) / 2;
  }
}
