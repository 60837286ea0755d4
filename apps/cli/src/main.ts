import { Command, InvalidArgumentError, Option } from 'commander';
import { runDemo } from './demo/demo.command.ts';

const program = new Command('countersign')
  .description(
    'A governed tool-call runtime: a model proposes; Countersign validates, authorizes, asks, executes once, records, and answers.',
  )
  .version('0.1.0')
  .showHelpAfterError('(countersign --help shows what is possible)');

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
  .option('--json', 'print one JSON document on stdout; progress goes to stderr', false)
  .option(
    '--data-dir <folder>',
    'where the embedded database and the example keep their data',
    folder,
    '.countersign/demo',
  )
  .addHelpText(
    'after',
    '\nExamples:\n  npm run demo\n  npm run demo -- --mode stack\n  npm run -s demo -- --json > demo.json',
  )
  .action(async (options: { mode: 'embedded' | 'stack'; json: boolean; dataDir: string }) => {
    process.exitCode = await runDemo(options);
  });

function folder(text: string): string {
  if (text.trim() === '' || text.includes('\0')) throw new InvalidArgumentError('It must name a folder.');
  return text;
}

await program.parseAsync();
