import { CommanderError } from 'commander';
import type { CliConfig } from './cli.config.ts';
import { CommandFailure, EXIT, type ExitCode } from './exit-codes.ts';
import { printable } from './output/printable.ts';
import { buildProgram } from './program.ts';

const HELP = new Set(['commander.helpDisplayed', 'commander.version']);
const OURS = new Set(['CountersignError', 'InfrastructureError']);

/**
 * Runs one command line. A failure is told on stderr: one line, or JSON with `--json`.
 * @param args without the program's own name
 * @returns the exit code of a failure; null when the command ran (it may have set one itself)
 */
export async function runProgram(
  args: readonly string[],
  config: CliConfig,
  writeError: (text: string) => void,
): Promise<ExitCode | null> {
  try {
    await buildProgram(config, writeError).parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError) return HELP.has(error.code) ? null : EXIT.usage; // commander has told it
    const { exit, code, message } = told(error);
    const line = args.includes('--json')
      ? JSON.stringify({ error: { exit, ...(code === undefined ? {} : { code }), message } })
      : `error: ${printable(message)}`;
    writeError(`${line}\n`);
    return exit;
  }
}

function told(error: unknown): { exit: ExitCode; code?: string | undefined; message: string } {
  if (error instanceof CommandFailure) return error;
  if (!(error instanceof Error)) return { exit: EXIT.failed, message: String(error) };
  if (!OURS.has(error.name)) return { exit: EXIT.failed, message: error.stack ?? error.message };
  const { code } = error as Error & { code?: string };
  const exit =
    error.name === 'InfrastructureError' ? EXIT.unreachable : code === 'INVALID_ARGS' ? EXIT.usage : EXIT.failed;
  return { exit, code, message: error.message };
}
