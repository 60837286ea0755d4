import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addListLetters } from './list-letters.command.ts';
import { addReplayLetters } from './replay-letters.command.ts';
import { addShowLetter } from './show-letter.command.ts';

export function addDlq(program: Command, config: CliConfig): void {
  const group = program
    .command('dlq')
    .helpCommand(false)
    .description('look at dead letters: messages that no repetition could help; send them again');
  for (const add of [addListLetters, addShowLetter, addReplayLetters]) add(group, config);
}
