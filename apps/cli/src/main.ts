import { cliConfig } from './cli.config.ts';
import { EXIT } from './exit-codes.ts';
import { runProgram } from './run-program.ts';

// a reader such as `head` that has seen enough
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

const exit = await runProgram(process.argv.slice(2), cliConfig(), (text) => void process.stderr.write(text));
if (exit !== null) process.exitCode = exit;
