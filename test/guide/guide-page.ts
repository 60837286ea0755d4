import { readFileSync } from 'node:fs';

/** A fenced block of a page that a reader runs, saves, or compares with. */
export interface Block {
  readonly kind: 'run' | 'background' | 'file' | 'output' | 'skip';
  readonly text: string;
  /** Line of its first line in the page. */
  readonly line: number;
  /** Of a file: where it is saved. Of a skipped block: why. */
  readonly note: string;
}

/**
 * ```sh               run, in the shell of its page
 * ```sh background    start, until the page starts the next one
 * ```sh skip="why"    not run by the tests
 * ```<any> file=path  save
 * ```text output      each line must come, in this order, in what the block before it printed
 * @throws Error for a fence with other words, or an output without a run before it
 */
export function readPage(file: string): Block[] {
  const blocks: Block[] = [];
  const lines = readFileSync(file, 'utf8').split('\n');
  for (let i = 0; i < lines.length; i++) {
    const fence = /^```(\S+)?\s*(.*)$/.exec(lines[i]!);
    if (!fence) continue;
    const end = lines.findIndex((line, at) => at > i && line === '```');
    if (end < 0) throw new Error(`${file}:${i + 1}: the block does not end`);
    const text = lines.slice(i + 1, end).join('\n');
    blocks.push({ ...kindOf(fence[1] ?? '', fence[2] ?? '', `${file}:${i + 1}`), text, line: i + 2 });
    if (blocks.at(-1)!.kind === 'output' && blocks.at(-2)?.kind !== 'run')
      throw new Error(`${file}:${i + 1}: an output needs a command right before it`);
    i = end;
  }
  return blocks;
}

function kindOf(language: string, words: string, where: string): Pick<Block, 'kind' | 'note'> {
  const [, name, value] = /^(file|skip)="?([^"]+)"?$/.exec(words) ?? [];
  if (name === 'file') return { kind: 'file', note: value! };
  if (language === 'sh' && name === 'skip') return { kind: 'skip', note: value! };
  if (language === 'sh' && words === '') return { kind: 'run', note: '' };
  if (language === 'sh' && words === 'background') return { kind: 'background', note: '' };
  if (language === 'text' && words === 'output') return { kind: 'output', note: '' };
  throw new Error(`${where}: a block of the guide is sh, sh background, sh skip="…", text output, or has file=…`);
}

/** The first line of `expected` that does not come in `printed` after the lines before it; null = all came. */
export function missingLine(expected: string, printed: string): string | null {
  let at = 0;
  for (const line of expected.split('\n')) {
    const found = printed.indexOf(line, at);
    if (found < 0) return line;
    at = found + line.length;
  }
  return null;
}
