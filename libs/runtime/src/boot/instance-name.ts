import { randomBytes } from 'node:crypto';
import os from 'node:os';

/** Names this process among all that ever were: host, pid, and what no other has. */
export const instanceName = (): string => `${os.hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;

const NAME = /^(.+)-(\d+)-[0-9a-f]{6}$/;

/**
 * Whether the name is that of a process which lives no more. Only of this host that can be told: its pid is gone, or is ours
 * by now. Where hosts or containers share a name it may be wrong, so only what can bear that may depend on it.
 */
export function isGoneInstance(name: string): boolean {
  const [, host, pid] = NAME.exec(name) ?? [];
  if (host !== os.hostname()) return false;
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH';
  }
}
