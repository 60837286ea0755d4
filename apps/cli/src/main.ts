import { CommanderError } from 'commander';
import { cliConfig } from './cli.config.ts';
import { CommandFailure, EXIT } from './exit-codes.ts';
import { printable } from './output/printable.ts';
import { buildProgram } from './program.ts';

const HELP = new Set(['commander.helpDisplayed', 'commander.version']);

// a reader such as `head` that has seen enough
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  await buildProgram(cliConfig()).parseAsync();
} catch (error) {
  process.exitCode = tell(error);
}

/** @returns the exit code */
function tell(error: unknown): number {
  if (error instanceof CommanderError) return HELP.has(error.code) ? EXIT.ok : EXIT.usage; // commander has told it
  const failure = error instanceof CommandFailure ? error : undefined;
  const text =
    error instanceof Error
      ? failure || isOurs(error)
        ? error.message
        : (error.stack ?? error.message)
      : String(error);
  const exit = failure?.exit ?? EXIT.failed;
  const code = failure?.code ?? (isOurs(error) ? error.code : undefined);
  process.stderr.write(
    process.argv.includes('--json')
      ? `${JSON.stringify({ error: { exit, ...(code === undefined ? {} : { code }), message: text } })}\n`
      : `error: ${printable(text)}\n`,
  );
  return exit;
}

/** An error of our libraries, whose message is meant for people. */
function isOurs(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && ['CountersignError', 'InfrastructureError'].includes(error.name);
}
