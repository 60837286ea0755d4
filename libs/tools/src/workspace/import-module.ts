import diagnostics from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { registerHooks, type ResolveHookSync } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { IMPORT_CHANNEL, type ImportNews } from '#kernel';

/** Reading code is a matter of milliseconds; what takes longer waits for something. */
export const DEFAULT_IMPORT_LIMIT_MS = 10_000;
const STDERR = 2;
const STACK_DEPTH = 50;

/**
 * Imports a module of a workspace, which may do anything while it is imported.
 * @param limitMs milliseconds after which it counts as endless
 * @throws what the module throws; Error that says what to mend when it does not end. When the module ends this process,
 *   stderr names the file and the exit code is not 0
 */
export async function importModule(file: string, limitMs: number): Promise<Record<string, unknown>> {
  shareOwnPackages();
  tell({ file, state: 'begun' });
  const late = Promise.withResolvers<never>();
  // The timer keeps the process alive: a module that waits for nothing would else end it without a word.
  const timer = setTimeout(() => late.reject(new Error(endless(limitMs))), limitMs);
  const onExit = (code: number): void => tellExit(file, code);
  process.on('exit', onExit);
  try {
    const importing = import(pathToFileURL(file).href) as Promise<Record<string, unknown>>;
    importing.catch(() => undefined); // a failure after the limit is told already
    return await Promise.race([importing, late.promise]);
  } finally {
    tell({ file, state: 'ended' });
    clearTimeout(timer);
    process.removeListener('exit', onExit);
  }
}

const tell = (news: ImportNews): void => diagnostics.channel(IMPORT_CHANNEL).publish(news);

/** A tool names these; a workspace outside of a project that has them installed gets those of this installation. */
const OWN_PACKAGES = new Set(['countersign/tools', 'zod']);
let shared = false;

function shareOwnPackages(): void {
  if (shared) return;
  shared = true;
  try {
    registerHooks({ resolve: resolveOwn });
  } catch {
    // A test runner with a module loader of its own takes no hooks; it finds these packages by itself.
  }
}

const resolveOwn: ResolveHookSync = (specifier, context, next) => {
  if (!OWN_PACKAGES.has(specifier)) return next(specifier, context);
  try {
    return next(specifier, context);
  } catch {
    return next(specifier, { ...context, parentURL: import.meta.url });
  }
};

const endless = (limitMs: number): string =>
  `its import did not end within ${limitMs / 1000} s; remove the endless await at its top level, or do that work in the handler`;

/** Runs inside of process.exit, so the stack tells who called it. */
function tellExit(file: string, code: number): void {
  const depth = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_DEPTH;
  const here = new Error('exit');
  Error.stackTraceLimit = depth;
  const workspace = pathToFileURL(path.dirname(path.dirname(file))).href;
  if (!here.stack?.includes(`${workspace}/`)) return; // somebody else's exit, such as that of a signal
  const name = path.join(path.basename(path.dirname(file)), path.basename(file));
  writeSync(
    STDERR,
    `${name}: ${placeIn(file, here)}it ended the process (process.exit(${code})) while it was imported; remove that call\n`,
  );
  if (code === 0) process.exitCode = 1;
}

/** `line N: `, where Node names the file in the stack alone; empty when it does not. */
export function placeIn(file: string, error: unknown): string {
  const stack = String((error as { stack?: unknown } | null)?.stack ?? '');
  for (const name of [pathToFileURL(file).href, file]) {
    const at = stack.indexOf(`${name}:`);
    const line = at < 0 ? undefined : /^:(\d+)/.exec(stack.slice(at + name.length))?.[1];
    if (line !== undefined) return `line ${line}: `;
  }
  return '';
}
