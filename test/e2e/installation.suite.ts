import { approvalEditsSuite } from './approval-edits.suite.ts';
import { compensationSuite } from './compensation.suite.ts';
import { factsSuite } from './facts.suite.ts';
import { faultListSuite } from './fault-list.suite.ts';
import { governedCallSuite } from './governed-call.suite.ts';
import { lostAnswersSuite } from './lost-answers.suite.ts';
import { runControlSuite } from './run-control.suite.ts';
import { stagesSuite } from './stages.suite.ts';
import type { System } from './system.ts';
import { startWorld, type World } from './world.ts';

/** All that holds of an installation, whatever it runs on. */
export function installationSuite(open: (world: World) => Promise<System>, built?: string): void {
  let world: World;
  let system: System;
  const theSystem = (): System => system;
  const theSink = () => world.sink.state();
  governedCallSuite(async () => {
    world = await startWorld(built);
    system = await open(world);
    return system;
  }, theSink);
  lostAnswersSuite(theSystem, theSink);
  faultListSuite(theSystem, theSink);
  runControlSuite(theSystem, theSink);
  stagesSuite(theSystem, theSink);
  approvalEditsSuite(theSystem, theSink);
  compensationSuite(theSystem, () => world.office);
  factsSuite(theSystem, () => world.office);
  afterAll(() => world.close());
}
