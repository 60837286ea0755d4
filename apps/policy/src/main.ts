import { runServices } from '#runtime';
import { policyDoor } from './policy.module.ts';

await runServices([policyDoor]);
