import { endState, readState, STAYING, sweepOrphans } from './state.ts';

/** `npm run stack:down`: ends only what is recorded and still ours, and removes its data. */
const say = (line: string): void => void process.stderr.write(`${line}\n`);

try {
  await sweepOrphans();
  const state = readState(STAYING);
  if (state) await endState(STAYING, state);
  say(state ? `Ended: ${Object.keys(state.parts).join(', ')}.` : 'No stack is running.');
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
