#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/apps/cli/src/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('countersign is not built: run "npm run build" first.');
  process.exit(1);
}
// Compiled code is kept between starts, for this process and, by the variable, for those that it starts.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/node-compile/', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import(main.href);
