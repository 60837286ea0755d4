import { TOPICS, type Message } from '#contracts';
import { CountersignError } from '#kernel';
import type { IntakeOptions, IntakeParts } from '../gateway-intake.ts';
import { throwRefused } from './watched-answers.ts';
import { keys, type Watch } from './watchers.ts';

/** How long a 202 under a key waits to learn whether the key was used with other content. */
const ADMISSION_MS = 2_000;
const ADMITTED = Symbol('admitted');

export interface StartedRun {
  readonly tenant: string;
  readonly runId: string;
  readonly commandId: string;
  readonly command: Message<'StartRun'>;
}

export interface Target<T> {
  look(watch: Watch): T | undefined;
  ask(): Promise<T | undefined>;
}

/**
 * Publishes a StartRun and waits for the target. Under a key nothing is answered before the request that really
 * started the run is known to be this one: RunStarted says so (a repeat is answered by the stored one), else the
 * orchestrator's read port. Without a key the run is new and needs no such check.
 * @returns null when the target was not reached within the wait
 * @throws CountersignError IDEMPOTENCY_CONFLICT, what the orchestrator refused with; what CommandExchange throws
 */
export async function startAndWait<T>(
  { exchange, views }: Pick<IntakeParts, 'exchange' | 'views'>,
  start: StartedRun,
  options: IntakeOptions,
  watched: readonly string[],
  target: Target<T>,
): Promise<T | null> {
  const { tenant, runId, commandId } = start;
  const started = keys.started(tenant, runId);
  const refused = keys.command(tenant, commandId);
  const keyed = options.key !== undefined;
  const waits = options.waitMs > 0;
  let verified = !keyed;
  const verify = (digest: string | undefined): void => {
    if (verified || digest === undefined) return;
    if (digest !== options.requestDigest) throw keyConflict();
    verified = true;
  };
  const found = await exchange.run<T | typeof ADMITTED>({
    topic: TOPICS.runCommands,
    command: start.command,
    watched: keyed ? [started, refused, ...watched] : [refused, ...watched],
    waitMs: waits ? options.waitMs : keyed ? ADMISSION_MS : 0,
    isGone: options.isGone,
    look: (watch) => {
      throwRefused(watch, refused);
      if (!verified) verify(watch.get(started, 'RunStarted')?.data.requestDigest);
      if (!verified) return undefined;
      return waits ? target.look(watch) : ADMITTED;
    },
    // A run that was started before this command was sent has its events behind it. Only a hint: clocks differ.
    isRepeat: (watch) => {
      const message = keyed && waits ? watch.get(started, 'RunStarted') : undefined;
      return message !== undefined && message.occurredAt < start.command.occurredAt;
    },
    ask: async (watch) => {
      if (!verified) verify(await views.requestDigest(tenant, runId));
      if (!verified) return undefined;
      return waits ? (target.look(watch) ?? (await target.ask())) : ADMITTED;
    },
  });
  return found === ADMITTED ? null : found;
}

const keyConflict = (): CountersignError =>
  new CountersignError(
    'IDEMPOTENCY_CONFLICT',
    'The Idempotency-Key was used with other content: repeat the same request, or give a new one its own key',
  );
