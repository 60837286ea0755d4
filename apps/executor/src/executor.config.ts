import { z } from 'zod';
import type { ToolContract } from '#contracts';
import { flagSetting, integerSetting, listSetting, type Environment, type Settings } from '#runtime';
import { neededEnv } from '#tools';

export const executorSettings = {
  COUNTERSIGN_POOL: z
    .string()
    .regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, 'expected lower case letters, digits and single underscores')
    .max(30)
    .default('default')
    .describe('pool whose grants this executor spends'),
  COUNTERSIGN_WORKSPACES: listSetting('').describe('folders of workspaces whose local tools run here, comma separated'),
  COUNTERSIGN_TOOL_ENV: listSetting('').describe(
    'names of environment variables that local handlers, and HTTP contracts of other workspaces, may see, comma separated',
  ),
  COUNTERSIGN_LEASE_MS: integerSetting(15_000, 500, 600_000).describe(
    'milliseconds until the work of a dead executor is taken over; a tool with a longer timeout gets a longer lease',
  ),
  COUNTERSIGN_LEASE_MARGIN_MS: integerSetting(1_000, 50, 60_000).describe(
    'milliseconds of lease that must be left beyond the timeout of a tool when its request is sent',
  ),
  COUNTERSIGN_SWEEP_MS: integerSetting(1_000, 50, 60_000).describe(
    'milliseconds between looks for work whose lease has ended',
  ),
  COUNTERSIGN_LOCK_WAIT_MS: integerSetting(30_000, 0, 600_000).describe(
    'milliseconds that a write waits for its resource or for a running call of its key before it ends as BUSY',
  ),
  COUNTERSIGN_CANCEL_GRACE_MS: integerSetting(2_000, 0, 600_000).describe(
    'milliseconds for which the tool of a cancelled call may still answer before its connection is cut; a known end is worth a short wait',
  ),
  COUNTERSIGN_EXECUTOR_DRAIN_MS: integerSetting(20_000, 0, 600_000).describe(
    'milliseconds for which a stopping executor waits for calls in work; what is left is taken over after its lease',
  ),
  COUNTERSIGN_RECONCILE_MS: integerSetting(5_000, 20, 600_000).describe(
    'milliseconds between looks for unknown outcomes whose next probe is due',
  ),
  COUNTERSIGN_UNKNOWN_ALARM_MS: integerSetting(3_600_000, 1_000, 2_592_000_000).describe(
    'milliseconds after which an outcome that is still unknown is written to the log as a warning, again after as long',
  ),
  COUNTERSIGN_RESOLVE_FOUR_EYES: flagSetting().describe(
    'two different people must say the same before an unknown outcome is decided; contracts may ask for it themselves',
  ),
  COUNTERSIGN_PAYLOAD_RETENTION_MS: integerSetting(2_592_000_000, 1_000, 315_360_000_000).describe(
    'milliseconds for which the journal keeps arguments and results of calls that are over; keys, digests and outcomes stay',
  ),
  COUNTERSIGN_EXECUTOR_PARALLEL: integerSetting(256, 1, 4_096).describe('tool calls in work at once in one executor'),
};
export type ExecutorSettings = Settings<typeof executorSettings>;

/**
 * The part of the environment that tools may see: what the HTTP contracts of the pool's own workspaces name, and what the
 * operator lists; never a setting of Countersign itself.
 */
export function toolEnvironment(
  contracts: readonly ToolContract[],
  settings: Pick<ExecutorSettings, 'COUNTERSIGN_TOOL_ENV'>,
  env: Environment,
): Record<string, string> {
  const names = new Set([...contracts.flatMap(neededEnv), ...settings.COUNTERSIGN_TOOL_ENV]);
  const seen: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && !name.startsWith('COUNTERSIGN_')) seen[name] = value;
  }
  return seen;
}
