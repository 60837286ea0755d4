import type { ConsumerSpec } from '#bus';
import { grantedTopic } from '#contracts';
import type { Admission } from './work/admission.ts';

/** Message type → reducer. Two batches may commit at once: the intents of one while those of the other wait for the disk. */
export function executorConsumers(pool: string, admission: Admission): ConsumerSpec[] {
  const granted: ConsumerSpec<'CallGranted'> = {
    group: `executor.${pool}`,
    topics: [grantedTopic(pool)],
    from: 'earliest',
    accepts: ['CallGranted'],
    concurrency: 2,
    maxBatch: 128,
    reduce: (batch) => admission.reduce(batch),
  };
  return [granted as unknown as ConsumerSpec];
}
