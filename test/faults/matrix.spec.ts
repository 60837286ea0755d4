import path from 'node:path';
import { freshDatabase, type FreshDatabase } from '../../libs/persistence/testing/fresh-database.ts';
import { faultRun } from './fault-run.ts';
import { openInstallation, type Installation } from './installation.ts';
import { cutCommit, killAtEachPlace, COMMITS, stopAt } from './matrix.ts';
import { placesOf } from './places.ts';

const root = path.join(import.meta.dirname, '../..');
const fromSources = (name: string): string[] => [
  '--conditions=development',
  '--no-warnings',
  '--import',
  path.join(root, 'test/faults/swc-hook.mjs'),
  path.join(root, `apps/${name}/src/main.ts`),
];
/** Around the intent, the effect and the outcome; the others: `npm run faults -- --matrix short`. */
const PLACES = placesOf('embedded').filter(({ name }) =>
  /^executor\.(after-intent|sending|before-outcome|after-outcome)$|^gateway\.after-publish$/.test(name),
);
const PATIENCE = { workers: 3, restMs: 100 };
const CLEAN = { lost: 0, doubled: 0, misreported: 0, stuck: 0, auditGaps: 0, faults: [], clean: true };

describe('embedded: one process that is killed at named places, with all classes of tools at work', () => {
  let database: FreshDatabase;
  let installation: Installation;
  beforeAll(async () => {
    database = await freshDatabase();
    installation = await openInstallation({ mode: 'embedded', databaseUrl: database.url, command: fromSources });
  }, 180_000);
  afterAll(async () => {
    await installation?.close();
    await database?.drop();
  }, 60_000);

  it('kill -9 around intent, effect and outcome: nothing lost, doubled, misreported or stuck, and the audit is whole (G4, G5, G7, G9, G11)', async () => {
    const report = await faultRun(installation, (load) => killAtEachPlace(installation, load, PLACES), PATIENCE);
    expect(report).toMatchObject({ ...CLEAN, notReached: [] });
    expect(report.kills).toBe(PLACES.length);
  }, 900_000);

  it('a commit whose answer never comes, and a process that sleeps longer than its lease: found out, never assumed (G4, G5, G6)', async () => {
    const report = await faultRun(
      installation,
      async (load) => {
        const applied = [];
        for (const commit of COMMITS) applied.push(await cutCommit(installation, load, commit));
        for (const place of ['executor.after-intent', 'executor.after-answer', 'executor.before-outcome'])
          applied.push(await stopAt(installation, load, 'all-in-one', place));
        return applied;
      },
      PATIENCE,
    );
    expect(report).toMatchObject({ ...CLEAN, notReached: [] });
  }, 300_000);
});
