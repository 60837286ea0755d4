#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/apps/cli/src/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('countersign is not built: run "npm run build" first.');
  process.exit(1);
}
await import(main.href);
