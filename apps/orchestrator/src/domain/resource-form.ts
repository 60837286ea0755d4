import type { ResourceForm } from '#contracts';

export type Formed = { readonly text: string } | { readonly wrong: readonly [rule: string, message: string] };

/** One canonical text for all ways to write the same thing, so that those who name it meet (G6). */
export function inForm(text: string, form: ResourceForm | undefined): Formed {
  if (form === undefined) return { text };
  const cased = form === 'path' ? text : text.toLowerCase().normalize('NFC');
  return form === 'lower' ? { text: cased } : canonicalPath(cased);
}

/** As POSIX reads a path, without asking a file system: links are not followed, a backslash is a character. */
function canonicalPath(path: string): Formed {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return { wrong: ['path', 'must not lead out of its folder'] };
  }
  return { text: `${path.startsWith('/') ? '/' : ''}${segments.join('/')}` || '.' };
}
