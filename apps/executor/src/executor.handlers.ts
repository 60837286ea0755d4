import type { ConsumerSpec, Incoming } from '#bus';
import { grantedTopic } from '#contracts';
import type { Admission } from './work/admission.ts';
import type { CancelDesk } from './work/cancel-desk.ts';

/** Message type → reducer. Two batches may commit at once: the intents of one while those of the other wait for the disk. */
export function executorConsumers(pool: string, admission: Admission, cancels: CancelDesk): ConsumerSpec[] {
  const granted: ConsumerSpec<'CallGranted' | 'CancelGranted'> = {
    group: `executor.${pool}`,
    topics: [grantedTopic(pool)],
    from: 'earliest',
    accepts: ['CallGranted', 'CancelGranted'],
    concurrency: 2,
    maxBatch: 128,
    async reduce(batch) {
      const cancellations = batch.filter(isCancellation);
      if (cancellations.length === 0) return admission.reduce(batch as readonly Incoming<'CallGranted'>[]);
      // First: a grant of the same batch then does not begin.
      await cancels.reduce(cancellations);
      await admission.reduce(batch.filter((one): one is Incoming<'CallGranted'> => !isCancellation(one)));
    },
  };
  return [granted as unknown as ConsumerSpec];
}

const isCancellation = (one: Incoming<'CallGranted' | 'CancelGranted'>): one is Incoming<'CancelGranted'> =>
  one.message.type === 'CancelGranted';
