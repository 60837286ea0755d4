import { integerSetting, listSetting } from '#runtime';

export const policySettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_WORKSPACES: listSetting('').describe(
    'workspace folders, comma separated; policy adds their policies/*.cedar to the default pack',
  ),
  COUNTERSIGN_JOURNAL_EPOCH: integerSetting(1, 1, 1_000_000).describe(
    'epoch of the effect journal that grants are minted for; raised by "countersign journal raise-epoch" after a restore',
  ),
  COUNTERSIGN_GRANT_TTL_MS: integerSetting(60_000, 1_000, 60_000).describe(
    'life of a grant in milliseconds, rounded down to seconds',
  ),
  COUNTERSIGN_APPROVAL_SWEEP_MS: integerSetting(1_000, 10, 60_000).describe(
    'milliseconds between looks for approvals that nobody decided in time',
  ),
};
