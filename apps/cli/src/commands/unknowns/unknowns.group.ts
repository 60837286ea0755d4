import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addListUnknowns } from './list-unknowns.command.ts';
import { addResolveUnknown } from './resolve-unknown.command.ts';
import { addShowUnknown } from './show-unknown.command.ts';

export function addUnknowns(program: Command, config: CliConfig): void {
  const group = program
    .command('unknowns')
    .helpCommand(false)
    .description('see calls whose outcome nobody knows, and say what became of them');
  for (const add of [addListUnknowns, addShowUnknown, addResolveUnknown]) add(group, config);
}
