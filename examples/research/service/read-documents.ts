import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** One paragraph, with where it stands. Lines count from 1. */
export interface Passage {
  /** Path below the folder. */
  readonly source: string;
  readonly title: string;
  readonly fromLine: number;
  readonly toLine: number;
  readonly text: string;
}

/**
 * All paragraphs of the `*.md` files of a folder; the first heading is the title of its document.
 * @throws Error when the folder cannot be read or a file is not UTF-8
 */
export async function readDocuments(folder: string): Promise<Passage[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
  const documents = await Promise.all(
    names.map(async (name) => passagesOf(name, decoded(name, await readFile(path.join(folder, name))))),
  );
  return documents.flat();
}

export function passagesOf(source: string, text: string): Passage[] {
  const lines = text.split(/\r?\n/);
  const title =
    lines
      .find((line) => line.startsWith('# '))
      ?.slice(2)
      .trim() || source;
  const passages: Passage[] = [];
  let first = -1;
  for (const [index, line] of [...lines, ''].entries()) {
    const blank = line.trim() === '' || line.startsWith('#');
    if (!blank && first < 0) first = index;
    if (!blank || first < 0) continue;
    passages.push({ source, title, fromLine: first + 1, toLine: index, text: lines.slice(first, index).join('\n') });
    first = -1;
  }
  return passages;
}

function decoded(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${name} is not UTF-8; convert it or remove it`);
  }
}
