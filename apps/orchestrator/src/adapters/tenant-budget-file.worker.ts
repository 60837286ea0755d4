import { readFile } from 'node:fs/promises';
import { CountersignError } from '#kernel';
import { errorFields, type Log, type Worker } from '#runtime';
import { readTenantBudgets, type TenantBudgets } from '../domain/tenant-budget.ts';
import type { TenantBudgetSource } from './tenant-slices.ts';

/** How soon a changed file counts. */
const LOOK_MS = 1_000;

/** The limits of tenants as their file has them now; a file that cannot be read keeps the last good ones, and the log says so. */
export class TenantBudgetFile implements Worker, TenantBudgetSource {
  readonly #file: string;
  readonly #log: Log;
  #text: string;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  current: TenantBudgets;

  /** @throws CountersignError INVALID_ARGS with every fault of the file */
  static async open(file: string, log: Log): Promise<TenantBudgetFile> {
    const text = await textOf(file);
    return new TenantBudgetFile(file, log, text, budgetsIn(file, text));
  }

  private constructor(file: string, log: Log, text: string, current: TenantBudgets) {
    this.#file = file;
    this.#log = log;
    this.#text = text;
    this.current = current;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking = this.look();
    }, LOOK_MS);
    this.#timer.unref();
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#looking;
  }

  /** Reads the file again. */
  async look(): Promise<void> {
    try {
      const text = await textOf(this.#file);
      if (text === this.#text) return;
      this.#text = text;
      this.current = budgetsIn(this.#file, text);
      this.#log.info({ tenants: Object.keys(this.current).length }, 'the limits of tenants were read again');
    } catch (error) {
      this.#log.error(errorFields(error), 'the limits of tenants cannot be read; those from before still count');
    }
  }
}

const SETTING = 'COUNTERSIGN_TENANT_BUDGETS';

const textOf = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file} cannot be read (${cause.code})`, { cause });
  });

function budgetsIn(file: string, text: string): TenantBudgets {
  const read = readTenantBudgets(text);
  if (!('faults' in read) || !Array.isArray(read.faults)) return read as TenantBudgets;
  throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file}: ${read.faults.join('; ')}`);
}
