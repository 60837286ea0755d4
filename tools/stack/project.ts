import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json above this file, in the sources and in dist alike. */
function root(): string {
  for (let at = import.meta.dirname; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, 'package.json')) || at === path.dirname(at)) return at;
  }
}

export const projectFile = (...parts: string[]): string => path.join(root(), ...parts);
