import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addToolChanges } from './list-tool-changes.command.ts';
import { addDiffTool } from './diff-tool.command.ts';
import { addListTools } from './list-tools.command.ts';
import { addPublishTool } from './publish-tool.command.ts';
import { addReviews, addReviewTool } from './review-tool.command.ts';
import { addShowTool } from './show-tool.command.ts';
import { addStandings } from './stand-tool.command.ts';

export function addTools(program: Command, config: CliConfig): void {
  const group = program
    .command('tools')
    .helpCommand(false)
    .description('see, publish, compare, review and stop the tools of the tenant');
  for (const add of [
    addListTools,
    addShowTool,
    addPublishTool,
    addDiffTool,
    addToolChanges,
    addReviews,
    addReviewTool,
    addStandings,
  ])
    add(group, config);
}
