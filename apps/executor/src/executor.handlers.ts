import type { ConsumerSpec, Incoming } from '#bus';
import { grantedTopic } from '#contracts';
import type { Admission } from './work/admission.ts';
import type { CancelDesk } from './work/cancel-desk.ts';
import type { HandClosings } from './work/hand-closings.ts';
import type { Resolutions } from './work/resolutions.ts';

type Command = 'CallGranted' | 'CancelGranted' | 'ReconcileCall' | 'CloseUndone';

export interface Reducers {
  readonly admission: Admission;
  readonly cancels: CancelDesk;
  readonly resolutions: Resolutions;
  readonly closings: HandClosings;
}

/** Message type → reducer. Two batches may commit at once: the intents of one while those of the other wait for the disk. */
export function executorConsumers(
  pool: string,
  { admission, cancels, resolutions, closings }: Reducers,
): ConsumerSpec[] {
  const granted: ConsumerSpec<Command> = {
    group: `executor.${pool}`,
    topics: [grantedTopic(pool)],
    from: 'earliest',
    accepts: ['CallGranted', 'CancelGranted', 'ReconcileCall', 'CloseUndone'],
    concurrency: 2,
    maxBatch: 128,
    async reduce(batch) {
      const grants = batch.filter((one) => is(one, 'CallGranted'));
      if (grants.length === batch.length) return admission.reduce(grants);
      // Before the grants: those of the same batch find the key closed, and what is cancelled does not begin.
      await closings.reduce(batch.filter((one) => is(one, 'CloseUndone')).map((one) => one.message));
      await cancels.reduce(batch.filter((one) => is(one, 'CancelGranted')));
      await admission.reduce(grants);
      await resolutions.reduce(batch.filter((one) => is(one, 'ReconcileCall')).map((one) => one.message));
    },
  };
  return [granted as unknown as ConsumerSpec];
}

const is = <T extends Command>(one: Incoming<Command>, type: T): one is Incoming<T> & Incoming<Command> =>
  one.message.type === type;
