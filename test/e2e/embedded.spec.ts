import { governedCallSuite } from './governed-call.suite.ts';
import { openEmbedded } from './open-embedded.ts';
import { startWorld, type World } from './world.ts';

describe('embedded: seven services in one process, in-process bus, real PostgreSQL', () => {
  let world: World;
  governedCallSuite(
    async () => {
      world = await startWorld();
      return openEmbedded(world);
    },
    () => world.sink.state(),
  );
  afterAll(() => world.close());
});
