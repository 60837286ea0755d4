import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addListTools } from './list-tools.command.ts';
import { addShowTool } from './show-tool.command.ts';

export function addTools(program: Command, config: CliConfig): void {
  const group = program.command('tools').helpCommand(false).description('look at the tools that are live');
  for (const add of [addListTools, addShowTool]) add(group, config);
}
