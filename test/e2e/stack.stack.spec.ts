import path from 'node:path';
import { approvalEditsSuite } from './approval-edits.suite.ts';
import { compensationSuite } from './compensation.suite.ts';
import { faultListSuite } from './fault-list.suite.ts';
import { governedCallSuite } from './governed-call.suite.ts';
import { openStackSystem } from './open-stack.ts';
import { runControlSuite } from './run-control.suite.ts';
import type { System } from './system.ts';
import { startWorld, type World } from './world.ts';

const root = path.join(import.meta.dirname, '../..');
const built = path.join(root, 'dist/examples');

describe('stack: seven processes on real Kafka, Redis and PostgreSQL', () => {
  let world: World;
  let system: System;
  governedCallSuite(
    async () => {
      world = await startWorld(built);
      system = await openStackSystem(world);
      return system;
    },
    () => world.sink.state(),
  );
  faultListSuite(
    () => system,
    () => world.sink.state(),
  );
  runControlSuite(
    () => system,
    () => world.sink.state(),
  );
  approvalEditsSuite(
    () => system,
    () => world.sink.state(),
  );
  compensationSuite(
    () => system,
    () => world.office,
  );
  afterAll(() => world.close());
});

describe('stack, every message delivered twice and out of step', () => {
  let world: World;
  let system: System;
  governedCallSuite(
    async () => {
      world = await startWorld(built);
      system = await openStackSystem(world, (name) => [
        '--enable-source-maps',
        path.join(root, 'test/e2e/twice-main.mjs'),
        name,
      ]);
      return system;
    },
    () => world.sink.state(),
  );
  faultListSuite(
    () => system,
    () => world.sink.state(),
  );
  runControlSuite(
    () => system,
    () => world.sink.state(),
  );
  approvalEditsSuite(
    () => system,
    () => world.sink.state(),
  );
  compensationSuite(
    () => system,
    () => world.office,
  );
  afterAll(() => world.close());
});
