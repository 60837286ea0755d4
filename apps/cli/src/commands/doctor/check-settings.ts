import type { Environment } from '#runtime';
import type { Finding } from './finding.ts';

const PREFIX = 'COUNTERSIGN_';

/** The settings that all processes share, by value; those of single services, by name. */
export async function checkSettings(env: Environment): Promise<Finding[]> {
  const { CLIENT_SETTING_NAMES, platformSettings, resolveSettings, SERVICE_NAMES, SERVICE_SETTING_NAMES } =
    await import('#runtime');
  const check = 'settings';
  const databases = SERVICE_NAMES.map((name) => `${PREFIX}${name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`);
  try {
    resolveSettings(platformSettings, env, [...SERVICE_SETTING_NAMES, ...CLIENT_SETTING_NAMES, ...databases]);
  } catch (error) {
    const faults = (error as Error).message.split('\n').filter((line) => line.startsWith('  - '));
    return faults.map((fault) => ({
      check,
      state: 'wrong',
      found: fault.slice(4),
      remedy: 'correct or unset this variable; no process of the installation starts with it',
    }));
  }
  const set = Object.keys(env).filter((name) => name.startsWith(PREFIX)).length;
  return [{ check, state: 'ok', found: `${set} COUNTERSIGN_ variables are set, all of them known` }];
}
