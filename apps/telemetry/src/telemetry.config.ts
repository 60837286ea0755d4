import { z } from 'zod';
import { integerSetting, listSetting, type Settings } from '#runtime';

export const telemetrySettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_KAFKA_PARTITIONS: integerSetting(6, 1, 1000).describe(
    'ledgers of a tenant: one for each partition of the audit topic',
  ),
  COUNTERSIGN_AUDIT_PACE_MS: integerSetting(200, 0, 1000).describe(
    'milliseconds at least between two writes to the audit log: fewer commits beside the path of calls',
  ),
  COUNTERSIGN_AUDIT_CHECKPOINT_MS: integerSetting(5_000, 100, 3_600_000).describe(
    'milliseconds between two looks for audit records that no checkpoint signs yet',
  ),
  COUNTERSIGN_AUDIT_CHECKPOINT_RECORDS: integerSetting(10_000, 1, 1_000_000).describe(
    'audit records after which a checkpoint is signed at once',
  ),
  COUNTERSIGN_AUDIT_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'PEM file of the Ed25519 private key that signs checkpoints of the audit log; absent = a key that is made at the first start and kept in the database of telemetry',
    ),
};
export type TelemetrySettings = Settings<typeof telemetrySettings>;
