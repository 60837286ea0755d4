import type { Command } from 'commander';
import type { DeadLetterDesk, StoredDeadLetter } from '#bus';
import type { CliConfig } from '../../cli.config.ts';
import { CommandFailure, EXIT } from '../../exit-codes.ts';
import { filled } from '../../option-parsers.ts';
import type { Output } from '../../output/output.ts';
import { printable } from '../../output/printable.ts';
import { letterJson, textOf, typeOf } from './letter-text.ts';
import { addDlqCommand, withDesk, type DlqOptions } from './open-desk.ts';

export function addShowLetter(group: Command, config: CliConfig): void {
  addDlqCommand(group, {
    usage: 'show',
    summary: 'show a dead letter with its bytes; they may hold arguments of calls',
    examples: ['countersign dlq show 12', 'countersign dlq show call.proposed.dlq/0/7 --json'],
  })
    .argument('<letter>', 'id of the letter, as "dlq list" tells it', filled)
    .action((id: string, options: DlqOptions) =>
      withDesk(config, options, async (desk, out) => {
        const letter = await found(desk, id);
        out.document(letterJson(letter));
        printLetter(out, letter);
      }),
    );
}

/** @throws CommandFailure when there is no such letter */
export async function found(desk: DeadLetterDesk, id: string): Promise<StoredDeadLetter> {
  const letter = await desk.find(id);
  if (letter) return letter;
  throw new CommandFailure(EXIT.failed, `there is no dead letter ${id}: "countersign dlq list" tells which there are`, {
    code: 'NOT_FOUND',
  });
}

export function printLetter(out: Output, letter: StoredDeadLetter): void {
  out.fields([
    ['letter', letter.id],
    ['at', letter.at],
    ['from', `${letter.topic}, partition ${letter.partition}, offset ${letter.offset}`],
    ['group', letter.group],
    ['type', typeOf(letter)],
    ['key', letter.key && (textOf(letter.key) ?? `base64 ${letter.key.toString('base64')}`)],
    ['attempts', letter.handlerAttempts],
    ['cause', `${letter.code}: ${letter.cause}`],
    ['sent again', letter.replayedAt],
  ]);
  if (letter.value === null) return;
  out.line();
  const text = textOf(letter.value);
  out.line(out.paint('strong', text === null ? 'Bytes (base64: they are not UTF-8)' : 'Bytes'));
  out.line(text === null ? letter.value.toString('base64') : printable(text));
}
