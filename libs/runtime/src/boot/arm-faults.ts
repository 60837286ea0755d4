import { existsSync, readFileSync, renameSync } from 'node:fs';
import { faults } from '#kernel';
import { SERVICE_NAMES } from '../platform.settings.ts';

/**
 * Arms the fault points of this process: only fault tests ask for it, by COUNTERSIGN_FAULT_FILE.
 *
 * The file holds one order, `<service>.<point>:<kill|stop>:<nth>`, and may come and go while the process runs.
 * A1 an order is carried out once: who carries it out renames the file to `<file>.fired` first, so a restarted process
 *    does not find it again, and the test sees that the point was reached.
 */
export function armFaults(file: string): void {
  let text = '';
  let seen = 0;
  faults.at = (where, point) => {
    if (!existsSync(file)) return;
    const order = readFileSync(file, 'utf8').trim();
    const [name, action, nth] = order.split(':');
    if (name !== `${serviceOf(where)}.${point}`) return;
    seen = order === text ? seen + 1 : 1;
    text = order;
    if (seen < Number(nth ?? 1)) return;
    renameSync(file, `${file}.fired`);
    process.kill(process.pid, action === 'stop' ? 'SIGSTOP' : 'SIGKILL');
  };
}

/** Schemas are written with underscores, consumer groups go on with what they read. */
function serviceOf(where: string): string {
  const name = where.replaceAll('_', '-');
  return SERVICE_NAMES.find((service) => name.startsWith(service)) ?? name;
}
