import { runServices } from '#runtime';
import { orchestratorDoor } from './orchestrator.module.ts';

await runServices([orchestratorDoor]);
