import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addCallHistory } from './call-history.command.ts';
import { addListCalls } from './list-calls.command.ts';
import { addShowCall } from './show-call.command.ts';

export function addCalls(program: Command, config: CliConfig): void {
  const group = program.command('calls').helpCommand(false).description('look at governed calls');
  for (const add of [addShowCall, addListCalls, addCallHistory]) add(group, config);
}
