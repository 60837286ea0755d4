import { readFileSync } from 'node:fs';

/** The version of this installation: the nearest package.json above, from sources and from dist alike. */
export function packageVersion(from: string = import.meta.url): string {
  for (let folder = new URL('./', from); ; folder = new URL('../', folder)) {
    try {
      const found = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version?: string };
      return found.version ?? 'unknown';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder.pathname === '/') return 'unknown';
    }
  }
}
