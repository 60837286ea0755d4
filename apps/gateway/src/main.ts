import { runServices } from '#runtime';
import { gatewayDoor } from './gateway.module.ts';

await runServices([gatewayDoor]);
