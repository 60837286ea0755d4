import { runServices } from '#runtime';
import { allDoors } from './doors.ts';

await runServices(allDoors);
