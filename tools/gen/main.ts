import path from 'node:path';
import { parseArgs } from 'node:util';
import { differences, writeFolder } from './folder.ts';
import { generatedFiles } from './generated-files.ts';

/** `npm run gen` writes docs/generated; with `-- --check` it only says which files are stale, and exits 1 if one is. */
const folder = path.resolve(import.meta.dirname, '../../docs/generated');
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const files = generatedFiles();
if (values.check) {
  const stale = differences(folder, files);
  for (const line of stale) process.stderr.write(`docs/generated/${line}\n`);
  if (stale.length > 0) {
    process.stderr.write('Run "npm run gen" and commit what it writes.\n');
    process.exitCode = 1;
  }
} else {
  writeFolder(folder, files);
  process.stderr.write(`wrote ${files.size} files to docs/generated\n`);
}
