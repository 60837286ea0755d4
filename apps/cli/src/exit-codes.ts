/** How a command ends. Scripts rely on these numbers. */
export const EXIT = {
  ok: 0,
  /** The thing that was asked for failed: a run ended failed, an approval is no longer pending, there is no such id. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** The gateway, broker or database does not answer. */
  unreachable: 3,
  /** The credential is unknown, or may not do this. */
  refused: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES_HELP = `
Exit codes:
  0  done
  1  it failed (a run ended failed, no such id, a fault was found)
  2  the command line or a setting is wrong
  3  the gateway, the broker or the database does not answer
  4  refused: the credential is unknown or may not do this`;

/** Ends the command with one line on stderr. */
export class CommandFailure extends Error {
  readonly exit: ExitCode;
  /** A code of the API, for programs. */
  readonly code: string | undefined;

  /** @param message what is wrong and the remedy */
  constructor(exit: ExitCode, message: string, options: { readonly code?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exit = exit;
    this.code = options.code;
  }
}

export const usageFailure = (message: string): CommandFailure => new CommandFailure(EXIT.usage, message);
