import { integerSetting, listSetting } from '#runtime';

export const orchestratorSettings = {
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_ORCHESTRATOR_SWEEP_MS: integerSetting(1000, 10, 60_000).describe(
    'milliseconds between looks for runs whose wall clock or re-drive is due',
  ),
} as const;
