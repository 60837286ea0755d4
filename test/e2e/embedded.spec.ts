import { approvalEditsSuite } from './approval-edits.suite.ts';
import { compensationSuite } from './compensation.suite.ts';
import { faultListSuite } from './fault-list.suite.ts';
import { governedCallSuite } from './governed-call.suite.ts';
import { openEmbedded } from './open-embedded.ts';
import { runControlSuite } from './run-control.suite.ts';
import type { System } from './system.ts';
import { startWorld, type World } from './world.ts';

describe('embedded: seven services in one process, in-process bus, real PostgreSQL', () => {
  let world: World;
  let system: System;
  governedCallSuite(
    async () => {
      world = await startWorld();
      system = await openEmbedded(world);
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
