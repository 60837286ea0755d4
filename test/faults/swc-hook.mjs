// Lets a process run the sources as they are: decorators are more than Node.js strips. Test wiring only.
// node --conditions=development --import test/faults/swc-hook.mjs apps/all-in-one/src/main.ts
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

registerHooks({
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { filename });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
