#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/apps/cli/src/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('countersign is not built: run "npm run build" first.');
  process.exit(1);
}
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node-compile/', import.meta.url)));
await import(main.href);
