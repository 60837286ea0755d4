import { readFile, rename, writeFile } from 'node:fs/promises';
import type { LedgerPosition } from 'countersign/audit';

/** Positions of ledgers in a file, for sinks that cannot be asked what they hold. Written whole, then put in place. */
export class PositionsFile {
  readonly #file: string;
  readonly #positions: Map<string, LedgerPosition>;

  private constructor(file: string, positions: readonly LedgerPosition[]) {
    this.#file = file;
    this.#positions = new Map(positions.map((position) => [position.ledger, position]));
  }

  /** @throws Error when the file is there and cannot be read: beginning anew would send everything twice */
  static async open(file: string): Promise<PositionsFile> {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '[]';
      throw error;
    });
    return new PositionsFile(file, JSON.parse(text) as LedgerPosition[]);
  }

  get positions(): readonly LedgerPosition[] {
    return [...this.#positions.values()];
  }

  async advance(to: readonly LedgerPosition[]): Promise<void> {
    for (const { ledger, sequence, digest } of to) this.#positions.set(ledger, { ledger, sequence, digest });
    await writeFile(`${this.#file}.new`, JSON.stringify(this.positions));
    await rename(`${this.#file}.new`, this.#file);
  }
}
