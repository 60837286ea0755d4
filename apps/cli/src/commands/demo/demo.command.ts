import { Option, type Command } from 'commander';
import type { DemoOptions } from '../../demo/demo.command.ts';
import { EXAMPLE_NAMES } from '../../demo/example-names.ts';
import { EXIT_CODES_HELP } from '../../exit-codes.ts';
import { filled } from '../../option-parsers.ts';

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('run the examples through the whole ring and show each step')
    .addOption(
      new Option(
        '--mode <mode>',
        'embedded: one process and its own PostgreSQL; stack: a process for each service on Kafka, Redis and PostgreSQL',
      )
        .choices(['embedded', 'stack'])
        .default('embedded'),
    )
    .addOption(
      new Option('--example <name>', 'one example alone; all of them, one after the other, if not given').choices(
        EXAMPLE_NAMES,
      ),
    )
    .option('--json', 'print one JSON document on stdout; progress goes to stderr', false)
    .option(
      '--data-dir <folder>',
      'where the embedded database and the examples keep their data',
      filled,
      '.countersign/demo',
    )
    .addHelpText(
      'after',
      `\nExamples:\n  npm run demo\n  npm run demo -- --mode stack\n  npm run demo -- --example refund\n  npm run -s demo -- --json > demo.json\n${EXIT_CODES_HELP}`,
    )
    .action(async (options: DemoOptions) => {
      const { runDemo } = await import('../../demo/demo.command.ts');
      process.exitCode = await runDemo(options);
    });
}
