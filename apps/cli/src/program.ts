import { Command } from 'commander';
import type { CliConfig } from './cli.config.ts';
import { addApply } from './commands/apply/apply.command.ts';
import { addApprovals } from './commands/approvals/approvals.group.ts';
import { addAudit } from './commands/audit/audit.group.ts';
import { addCalls } from './commands/calls/calls.group.ts';
import { addCompletion } from './commands/completion/completion.command.ts';
import { addDemo } from './commands/demo/demo.command.ts';
import { addDev } from './commands/dev/dev.command.ts';
import { addJournal } from './commands/journal/journal.group.ts';
import { addDlq } from './commands/dlq/dlq.group.ts';
import { addDoctor } from './commands/doctor/doctor.command.ts';
import { addRuns } from './commands/runs/runs.group.ts';
import { addTools } from './commands/tools/tools.group.ts';
import { addUnknowns } from './commands/unknowns/unknowns.group.ts';
import { addUsage } from './commands/usage/usage.command.ts';
import { EXIT_CODES_HELP } from './exit-codes.ts';

const VERSION = '0.1.0';

/** Every command; nothing runs yet. Faults of the command line come out as CommanderError. */
export function buildProgram(config: CliConfig, writeError: (text: string) => void): Command {
  const program = new Command('countersign')
    .description(
      'A governed tool-call runtime: a model proposes; Countersign validates, authorizes, asks, executes once, records, and answers.',
    )
    .version(VERSION)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeErr: writeError,
      outputError: (text) => writeError(`${text.trim().replace(/\s*\n\s*/g, ' ')}\n`),
    })
    .addHelpText(
      'after',
      `\nStart here:\n  countersign demo                 see it work\n  countersign dev my-workspace     govern your own tools\n  countersign runs --help          each command has examples\n${EXIT_CODES_HELP}`,
    );
  for (const add of [
    addDemo,
    addDev,
    addApply,
    addRuns,
    addCalls,
    addApprovals,
    addUnknowns,
    addTools,
    addAudit,
    addUsage,
    addDlq,
    addJournal,
    addDoctor,
  ])
    add(program, config);
  addCompletion(program);
  return program;
}
