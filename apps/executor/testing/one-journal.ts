import { freshDatabase, type FreshDatabase } from '../../../libs/persistence/testing/fresh-database.ts';
import { openExecutor, type Executor, type RigOptions } from './executor-rig.ts';

/** Executors on one fresh journal for each test, as replicas or one after the other; all are closed after it. */
export function oneJournal(common: RigOptions = {}) {
  let fresh: FreshDatabase;
  const open: Executor[] = [];
  beforeEach(async () => {
    fresh = await freshDatabase();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((executor) => executor.close().catch(() => undefined)));
    await fresh.drop();
  });
  const start = async (options: RigOptions = {}): Promise<Executor> => {
    const env = { ...common.env, ...options.env };
    const executor = await openExecutor({ ...common, url: fresh.url, ...options, env });
    open.push(executor);
    return executor;
  };
  return {
    start,
    url: () => fresh.url,
    /** @throws what a close throws */
    closeAll: () => Promise.all(open.splice(0).map((executor) => executor.close())),
    /** A process that has sent its request and was killed: no answer, no renewal, no settlement. */
    startAndKill: (): Promise<Executor> => start({ workers: false, run: () => new Promise(() => undefined) }),
  };
}
