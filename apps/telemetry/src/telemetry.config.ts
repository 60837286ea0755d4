import { integerSetting, listSetting, type Settings } from '#runtime';

export const telemetrySettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_AUDIT_PACE_MS: integerSetting(200, 0, 1000).describe(
    'milliseconds at least between two writes to the audit log: fewer commits beside the path of calls',
  ),
};
export type TelemetrySettings = Settings<typeof telemetrySettings>;
