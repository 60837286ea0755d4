import { stderr, stdin, stdout } from 'node:process';
import { askAt } from '../output/ask-at.ts';

/** What a person sees. With `--json` stdout belongs to the one document: everything else goes to stderr. */
export interface Screen {
  /** A person can be asked. */
  readonly interactive: boolean;
  title(text: string): void;
  step(text: string): void;
  detail(text: string): void;
  ask(question: string): Promise<boolean>;
}

export function openScreen(json: boolean, noColour: boolean): Screen {
  const out = json ? stderr : stdout;
  const colour = out.isTTY === true && !noColour;
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  return {
    interactive: !json && stdin.isTTY === true && stdout.isTTY === true,
    title: (text) => void out.write(`\n${paint(1, text)}\n`),
    step: (text) => void out.write(`${paint(36, '•')} ${printable(text)}\n`),
    detail: (text) => void out.write(`    ${paint(2, printable(text))}\n`),
    async ask(question) {
      for (;;) {
        const answer = (await askAt(out, `${question} [y/n] `))?.toLowerCase();
        if (answer === 'y' || answer === 'yes') return true;
        if (answer === 'n' || answer === 'no' || answer === undefined) return false;
      }
    },
  };
}

/** Text from a model or a tool must not drive the terminal: control characters are shown, not obeyed. */
export const printable = (text: string): string => text.replace(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '·');
