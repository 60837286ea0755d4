import { runServices } from '#runtime';
import { executorDoor } from './executor.module.ts';

await runServices([executorDoor]);
