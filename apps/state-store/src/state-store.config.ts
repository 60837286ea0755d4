import { integerSetting, listSetting, type Settings } from '#runtime';

export const stateStoreSettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_VIEW_LINGER_MS: integerSetting(10, 0, 1000).describe(
    'milliseconds that facts are gathered before they are folded into the views: fewer commits beside the path of calls',
  ),
};
export type StateStoreSettings = Settings<typeof stateStoreSettings>;
