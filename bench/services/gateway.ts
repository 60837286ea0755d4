import { runServices } from '#runtime';
import { createGatewayDoor } from '../../apps/gateway/src/gateway.module.ts';
import { BenchController } from './bench.controller.ts';

await runServices([createGatewayDoor({ controllers: [BenchController] })]);
