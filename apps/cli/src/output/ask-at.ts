import { once } from 'node:events';
import { stdin } from 'node:process';
import readline from 'node:readline/promises';

/** Asks at the terminal. @returns what was typed; null when the person ended the input (Ctrl-D, Ctrl-C) */
export async function askAt(output: NodeJS.WritableStream, question: string): Promise<string | null> {
  const terminal = readline.createInterface({ input: stdin, output });
  try {
    const closed = once(terminal, 'close').then(() => null);
    const typed = terminal.question(question).catch((error: unknown) => {
      if ((error as { name?: string }).name === 'AbortError') return null;
      throw error;
    });
    return (await Promise.race([typed, closed]))?.trim() ?? null;
  } finally {
    terminal.close();
  }
}
