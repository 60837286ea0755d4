import { readdirSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** Made by commands, never part of the repository. */
const MADE = new Set(['node_modules', 'dist', 'coverage', '.git', '.countersign']);

/** Every file of the repository, relative to its root, with forward slashes. */
export function projectFiles(folder = ''): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const at = folder ? `${folder}/${entry.name}` : entry.name;
    if (MADE.has(entry.name)) return []; // .git is a file in a second worktree
    if (entry.isDirectory()) return projectFiles(at);
    return /\.(log|tsbuildinfo|cpuprofile)$/.test(entry.name) ? [] : [at];
  });
}
