import { Argument, type Command } from 'commander';
import { bashScript, fishScript, zshScript } from './completion-scripts.ts';

/** A word of the command line, and what may follow it. */
export interface CommandTree {
  readonly name: string;
  readonly summary: string;
  /** `--json`, … */
  readonly options: readonly { readonly flag: string; readonly summary: string; readonly values: readonly string[] }[];
  readonly commands: readonly CommandTree[];
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes the command line in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(countersign completion bash)\n  countersign completion zsh > "${fpath[1]}/_countersign"\n  countersign completion fish > ~/.config/fish/completions/countersign.fish',
    )
    .action((shell: keyof typeof SCRIPTS) => void process.stdout.write(SCRIPTS[shell](treeOf(program))));
}

const treeOf = (command: Command): CommandTree => ({
  name: command.name(),
  summary: command.description(),
  options: command.options.flatMap(({ long, description, argChoices }) =>
    long ? [{ flag: long, summary: description, values: argChoices ?? [] }] : [],
  ),
  commands: command.commands.map(treeOf),
});
