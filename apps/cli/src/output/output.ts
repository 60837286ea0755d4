import { stderr, stdin, stdout } from 'node:process';
import { askAt } from './ask-at.ts';
import { printable, printableLine } from './printable.ts';
import { tableLines, type Column } from './table.ts';

export type Tone = 'good' | 'bad' | 'wait' | 'dim' | 'strong';

const TONES: Readonly<Record<Tone, number>> = { good: 32, bad: 31, wait: 33, dim: 2, strong: 1 };

/**
 * What a command says. Results go to stdout, all else to stderr.
 * T1 with `json` stdout holds one document, or JSON lines for streams, and nothing else;
 * T2 colours only where the stream is a terminal and NO_COLOR is not set; progress only on a terminal's stderr.
 */
export class Output {
  readonly json: boolean;
  readonly #noColour: boolean;
  #progress = false;

  constructor(options: { readonly json: boolean; readonly noColour: boolean }) {
    this.json = options.json;
    this.#noColour = options.noColour;
  }

  /** A person sits there and can be asked. */
  get interactive(): boolean {
    return stdin.isTTY === true && stderr.isTTY === true;
  }

  paint(tone: Tone, text: string): string {
    return stdout.isTTY === true && !this.#noColour ? `\u001b[${TONES[tone]}m${text}\u001b[0m` : text;
  }

  /** Human text on stdout; nothing with `json`. */
  line(text = ''): void {
    if (!this.json) this.#write(`${text}\n`);
  }

  /** One document of a command with `json`. */
  document(value: unknown): void {
    if (this.json) this.#write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** One line of a stream with `json`. */
  jsonLine(value: unknown): void {
    if (this.json) this.#write(`${JSON.stringify(value)}\n`);
  }

  table<T>(columns: readonly Column<T>[], items: readonly T[], none: string): void {
    if (this.json) return;
    if (items.length === 0) return this.line(none);
    const [titles, ...rows] = tableLines(columns, items, stdout.isTTY === true ? stdout.columns : undefined);
    this.line(this.paint('dim', titles!));
    for (const row of rows) this.line(row);
  }

  /** Names and values under each other; what is null or empty is left out. */
  fields(pairs: readonly (readonly [name: string, value: string | number | null | undefined, tone?: Tone])[]): void {
    const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    for (const [name, value, tone] of shown) {
      const text = printableLine(String(value));
      this.line(`${this.paint('dim', name.padEnd(width))}  ${tone ? this.paint(tone, text) : text}`);
    }
  }

  /** A remark beside the result, on stderr. */
  note(text: string): void {
    this.progress(null);
    stderr.write(`${printable(text)}\n`);
  }

  /** Shows on a terminal what takes time; null takes it away. */
  progress(text: string | null): void {
    if (stderr.isTTY !== true || this.json) return;
    if (text === null && !this.#progress) return;
    this.#progress = text !== null;
    stderr.write(`\r\u001b[2K${text === null ? '' : printableLine(text)}`);
  }

  /** @returns true for yes. Only where `interactive`. */
  async confirm(question: string): Promise<boolean> {
    for (;;) {
      const answer = (await this.ask(`${question} [y/n] `))?.toLowerCase();
      if (answer === 'y' || answer === 'yes') return true;
      if (answer === 'n' || answer === 'no' || answer === undefined) return false;
    }
  }

  /** @returns null when the person ended the input (Ctrl-D, Ctrl-C) */
  ask(question: string): Promise<string | null> {
    return askAt(stderr, question);
  }

  #write(text: string): void {
    this.progress(null);
    stdout.write(text);
  }
}

export type { Column };
