import path from 'node:path';
import { SERVICE_NAMES } from '#runtime';
import { faultRun, type Applied } from './fault-run.ts';
import { openInstallation, type Installation } from './installation.ts';
import { openMachinery, strike, type OpenMachinery } from './machinery.ts';
import { COMMITS, cutCommit, killAtEachPlace, stopAt } from './matrix.ts';
import { placesOf } from './places.ts';

const CLEAN = { lost: 0, doubled: 0, misreported: 0, stuck: 0, auditGaps: 0, faults: [], clean: true };
/** The executor's intents and outcomes are one statement each: its few transactions may not come in time. */
const PLACES = placesOf('stack').filter(({ name }) => !/^executor\.(before|after)-commit$/.test(name));
/** Each service, and each of its messages handed over twice. */
const twice = (name: string): string[] => [path.join(import.meta.dirname, '../e2e/twice-main.mjs'), name];

describe('stack: seven processes on a Kafka, Redis and PostgreSQL of their own, all of which die under load', () => {
  let machinery: OpenMachinery;
  let installation: Installation;
  beforeAll(async () => {
    machinery = await openMachinery('stack', () => undefined);
    installation = await openInstallation({ mode: 'stack', ...machinery.addresses, command: twice });
  }, 240_000);
  afterAll(async () => {
    await installation?.close();
    await machinery?.close();
  }, 60_000);

  it('kill -9 at each place, cut commits, sleeps beyond the lease, all of Redis forgotten, each server restarted, each message twice: nothing lost, doubled, misreported or stuck, and the audit is whole (G4–G7, G9, G11)', async () => {
    const seen: Applied[] = [];
    const report = await faultRun(
      installation,
      async (load) => {
        seen.push(...(await killAtEachPlace(installation, load, PLACES)));
        for (const commit of COMMITS) seen.push(await cutCommit(installation, load, commit));
        const places = [...SERVICE_NAMES.map((name) => [name, 'handled'] as const), ['executor', 'sending'] as const];
        for (const stops of [places.slice(0, -1), places.slice(-1)])
          seen.push(
            ...(await Promise.all(stops.map(([name, point]) => stopAt(installation, load, name, `${name}.${point}`)))),
          );
        for (const part of machinery.parts) {
          if (part.flush) seen.push(await strike(installation, load, part, 'flush'));
          seen.push(await strike(installation, load, part, 'kill -9'));
        }
        return seen;
      },
      { workers: 4 },
    );
    if (process.env.FAULTS_SHOW) process.stderr.write(`${JSON.stringify(report, null, 1)}\n`);
    expect(report).toMatchObject({ ...CLEAN, notReached: [] });
  }, 900_000);
});
