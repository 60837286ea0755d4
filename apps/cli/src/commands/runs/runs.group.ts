import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addCancelRun } from './cancel-run.command.ts';
import { addCompensateRun } from './compensate-run.command.ts';
import { addControlRun } from './control-run.command.ts';
import { addListRuns } from './list-runs.command.ts';
import { addResumeRun } from './resume-run.command.ts';
import { addShowRun } from './show-run.command.ts';
import { addStartRun } from './start-run.command.ts';
import { addWatchRun } from './watch-run.command.ts';

export function addRuns(program: Command, config: CliConfig): void {
  const group = program.command('runs').helpCommand(false).description('start runs of agents, watch and end them');
  for (const add of [
    addStartRun,
    addWatchRun,
    addShowRun,
    addListRuns,
    addCancelRun,
    addControlRun,
    addResumeRun,
    addCompensateRun,
  ])
    add(group, config);
}
