import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import { instanceName, isGoneInstance } from './instance-name.ts';

const named = (host: string, pid: number): string => `${host}-${pid}-0a1b2c`;

describe('who can be said to live no more', () => {
  it('a process of this host that has ended, and one that had our pid before us', async () => {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    const alive = isGoneInstance(named(os.hostname(), process.ppid));
    await once(child, 'exit');
    expect(alive).toBe(false);
    expect(isGoneInstance(named(os.hostname(), child.pid!))).toBe(true);
    expect(isGoneInstance(named(os.hostname(), process.pid))).toBe(true);
  });

  it('nobody of another host, and no other client', () => {
    expect(isGoneInstance(named(`not-${os.hostname()}`, process.pid))).toBe(false);
    expect(isGoneInstance('kafka-ui')).toBe(false);
    expect(instanceName()).toMatch(new RegExp(`^${os.hostname()}-${process.pid}-[0-9a-f]{6}$`));
  });
});
