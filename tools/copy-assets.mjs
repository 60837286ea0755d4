// Second half of `npm run build`: what the compiled code reads at run time goes to dist at the same relative path.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDERS = ['apps', 'libs', 'examples', 'tools'];
const READ_AT_RUN_TIME = new Set(['.sql', '.lua', '.cedar', '.yaml', '.yml', '.md', '.json', '.xml']);
const SKIPPED = new Set(['node_modules', 'dist', 'testing']);

let copied = 0;
for (const folder of FOLDERS) {
  if (!existsSync(path.join(ROOT, folder))) continue;
  copyFrom(folder);
  // A migration or a tool that was renamed must not be there under its old name, too.
  if (existsSync(path.join(ROOT, 'dist', folder))) removeGone(folder);
}
process.stderr.write(`copied ${copied} files to dist\n`);

function copyFrom(folder) {
  for (const entry of readdirSync(path.join(ROOT, folder), { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) copyFrom(at);
    } else if (READ_AT_RUN_TIME.has(path.extname(entry.name))) {
      const target = path.join(ROOT, 'dist', at);
      mkdirSync(path.dirname(target), { recursive: true });
      cpSync(path.join(ROOT, at), target);
      copied++;
    }
  }
}

function removeGone(folder) {
  for (const entry of readdirSync(path.join(ROOT, 'dist', folder), { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) removeGone(at);
    else if (sourcesOf(at).every((source) => !existsSync(path.join(ROOT, source)))) rmSync(path.join(ROOT, 'dist', at));
  }
}

/** What a file in dist may have been made of. */
function sourcesOf(file) {
  return [file, file.replace(/\.js(\.map)?$/, '.ts'), file.replace(/\.js(\.map)?$/, '.js')];
}
