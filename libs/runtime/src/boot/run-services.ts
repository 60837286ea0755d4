import { CountersignError } from '#kernel';
import { errorFields } from '../log.ts';
import { watchImports } from './import-watch.ts';
import { openServices, type AnyDoor, type OpenOptions, type RunningServices } from './open-services.ts';

/** A drain that takes longer is cut off: what is not finished is taken up again from the database. */
const DRAIN_LIMIT_MS = 25_000;
const EXIT_BAD_CONFIGURATION = 78;

/**
 * The main of every app: opens the doors in this process, drains on SIGTERM and SIGINT.
 * Exit codes: 0 after a drain, 78 bad configuration, 1 anything else.
 */
export async function runServices(
  doors: readonly AnyDoor[],
  options: Pick<OpenOptions, 'wrapBus'> = {},
): Promise<RunningServices> {
  watchImports();
  let opening: Promise<RunningServices> | undefined;
  let ending = false;
  const end = (code: number): void => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(code === 0 ? 1 : code), DRAIN_LIMIT_MS).unref();
    // What is still being opened is waited for, so that it can be closed in order: the embedded database is not left behind.
    void Promise.resolve(opening)
      .then((running) => running?.drain())
      .catch(() => undefined)
      .finally(() => process.exit(code));
  };
  process.on('SIGTERM', () => end(0));
  process.on('SIGINT', () => end(0));
  if (process.channel) {
    process.channel.unref();
    process.on('disconnect', () => end(0)); // a supervisor that died restarts nobody
  }
  process.on('unhandledRejection', (error) => {
    console.error(JSON.stringify({ event: 'unhandled rejection', ...errorFields(error) }));
    end(1);
  });
  try {
    opening = openServices(doors, process.env, {
      ...options,
      onFatal: (error) => {
        console.error(JSON.stringify({ event: 'the bus is lost', ...errorFields(error) }));
        end(1);
      },
    });
    return await opening;
  } catch (error) {
    if (ending) return await new Promise<never>(() => undefined); // `end` exits
    const own = error instanceof CountersignError;
    console.error(own ? error.message : error);
    process.exit(own && error.code === 'INVALID_ARGS' ? EXIT_BAD_CONFIGURATION : 1);
  }
}
