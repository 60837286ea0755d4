import { runServices } from '#runtime';
import { allDoors } from '../../apps/all-in-one/src/doors.ts';
import { createGatewayDoor } from '../../apps/gateway/src/gateway.module.ts';
import { BenchController } from './bench.controller.ts';

await runServices([
  createGatewayDoor({ controllers: [BenchController] }),
  ...allDoors.filter((door) => door.name !== 'gateway'),
]);
