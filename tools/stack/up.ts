import { existsSync } from 'node:fs';
import { ADDRESS_VARIABLES, PARTS, type PartName } from './part.ts';
import { startParts, stateOf } from './stack.ts';
import { endState, newDataDirectory, readStaying, readState, STAYING, sweepOrphans, writeState } from './state.ts';

/** `npm run stack:up`: starts what the environment does not name, and leaves it running until `npm run stack:down`. */
const say = (line: string): void => void process.stderr.write(`${line}\n`);

try {
  await sweepOrphans();
  const addresses = new Map<PartName, string>();
  for (const name of PARTS) {
    const address = process.env[ADDRESS_VARIABLES[name]];
    if (address) addresses.set(name, address);
  }
  const staying = (await readStaying()) ?? (await startStaying(PARTS.filter((name) => !addresses.has(name))));
  for (const name of PARTS) {
    const record = staying?.parts[name];
    if (record && !addresses.has(name)) addresses.set(name, record.address);
  }
  const lines = PARTS.map((name) => `export ${ADDRESS_VARIABLES[name]}=${addresses.get(name) ?? ''}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  if (staying)
    say(
      `The stack runs; its data and logs are in ${staying.directory}. "npm run stack:down" ends it and removes them.`,
    );
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function startStaying(names: readonly PartName[]): ReturnType<typeof readStaying> {
  const stale = existsSync(STAYING) ? readState(STAYING) : undefined;
  if (stale) {
    say('A part of the last stack is gone: ending the rest of it.');
    await endState(STAYING, stale);
  }
  if (names.length === 0) return undefined;
  const directory = newDataDirectory();
  const state = stateOf(null, directory, await startParts(names, directory, {}, say));
  writeState(STAYING, state);
  return state;
}
