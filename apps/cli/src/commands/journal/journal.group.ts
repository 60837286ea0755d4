import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addRaiseEpoch } from './raise-epoch.command.ts';

export function addJournal(program: Command, config: CliConfig): void {
  const group = program.command('journal').helpCommand(false).description('look after the effect journal');
  addRaiseEpoch(group, config);
}
