import { runServices } from '#runtime';
import { telemetryDoor } from './telemetry.module.ts';

await runServices([telemetryDoor]);
