import { integerSetting, listSetting, type Settings } from '#runtime';

export const stateStoreSettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_VIEW_PACE_MS: integerSetting(50, 0, 1000).describe(
    'milliseconds at least between two writes of the views: fewer commits beside the path of calls',
  ),
};
export type StateStoreSettings = Settings<typeof stateStoreSettings>;
