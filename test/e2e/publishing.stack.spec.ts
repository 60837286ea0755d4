import path from 'node:path';
import { openStackSystem } from './open-stack.ts';
import { publishingSuite } from './publishing.suite.ts';
import type { System } from './system.ts';
import { startWorld, type World } from './world.ts';

describe('stack: tools that come and go over seven processes', () => {
  let world: World;
  let system: System;
  beforeAll(async () => {
    world = await startWorld(path.join(import.meta.dirname, '../../dist/examples'));
    system = await openStackSystem(world);
  }, 180_000);
  afterAll(async () => {
    await system?.close();
    await world.close();
  }, 60_000);
  publishingSuite(
    () => system,
    () => world.sink.state(),
  );
});
