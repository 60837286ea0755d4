import { createHash } from 'node:crypto';
import { CountersignError } from '#kernel';
import type { DeadLetter } from '../bus.port.ts';
import type { Step } from '../router.ts';
import type { Failed } from '../work.ts';
import { untilDone } from './hold.ts';

const MAX_CAUSE = 1000;

/** Outermost: what nothing could help becomes a dead letter, and the partition goes on (B4). `latest` groups only log it. */
export const deadLetter: Step = (context, next) => async (batch) => {
  for (const failed of await next(batch)) {
    const letter = letterOf(context.spec.group, failed);
    const { group, topic, partition, offset, handlerAttempts, code } = letter;
    const fields = { group, topic, partition, offset, handlerAttempts, code };
    if (context.spec.from === 'latest') {
      context.log.warn(fields, 'bus.message-dropped');
      continue;
    }
    await untilDone(context, () => context.bury(letter));
    context.log.error(fields, 'bus.dead-letter');
  }
  return [];
};

function letterOf(group: string, { work, error, handlerAttempts }: Failed): DeadLetter {
  const { topic, partition, offset, key, value, headers } = work.delivery;
  const code = error instanceof CountersignError ? error.code : 'INTERNAL';
  return { group, topic, partition, offset, key, value, headers, handlerAttempts, code, cause: causeOf(error) };
}

/** Name, message and, for equal faults, an equal digest of the stack. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${typeof error}`;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  const digest = createHash('sha256').update(frames.join('\n')).digest('hex').slice(0, 16);
  return `${`${error.name}: ${error.message}`.slice(0, MAX_CAUSE)} [stack ${digest}]`;
}
