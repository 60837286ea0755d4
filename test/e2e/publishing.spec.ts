import { openEmbedded } from './open-embedded.ts';
import { publishingSuite } from './publishing.suite.ts';
import type { System } from './system.ts';
import { startWorld, type World } from './world.ts';

describe('embedded: tools that come and go', () => {
  let world: World;
  let system: System;
  beforeAll(async () => {
    world = await startWorld();
    system = await openEmbedded(world);
  }, 180_000);
  afterAll(async () => {
    await system.close();
    await world.close();
  });
  publishingSuite(
    () => system,
    () => world.sink.state(),
  );
});
