import { runServices } from '#runtime';
import { modelAdapterDoor } from './model-adapter.module.ts';

await runServices([modelAdapterDoor]);
