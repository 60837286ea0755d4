import { runServices } from '#runtime';
import { stateStoreDoor } from './state-store.module.ts';

await runServices([stateStoreDoor]);
