import path from 'node:path';
import { governedCallSuite } from './governed-call.suite.ts';
import { openStackSystem } from './open-stack.ts';
import { startWorld, type World } from './world.ts';

const root = path.join(import.meta.dirname, '../..');
const built = path.join(root, 'dist/examples');

describe('stack: seven processes on real Kafka, Redis and PostgreSQL', () => {
  let world: World;
  governedCallSuite(
    async () => {
      world = await startWorld(built);
      return openStackSystem(world);
    },
    () => world.sink.state(),
  );
  afterAll(() => world.close());
});

describe('stack, every message delivered twice and out of step', () => {
  let world: World;
  governedCallSuite(
    async () => {
      world = await startWorld(built);
      return openStackSystem(world, (name) => [
        '--enable-source-maps',
        path.join(root, 'test/e2e/twice-main.mjs'),
        name,
      ]);
    },
    () => world.sink.state(),
  );
  afterAll(() => world.close());
});
