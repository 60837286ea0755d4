const FILE = /\.(ts|mjs|js|json|md|sql|ya?ml|cedar|lua|xml)$/;

/** Code spans and relative links of a page that name a file or folder of the repository. */
export function namedPaths(page: string, topFolders: readonly string[]): string[] {
  const spans = [...page.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
  const links = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!.replace(/#.*$/, ''));
  const candidates = [...spans, ...links].map((text) => text.replace(/^\.\//, '').replace(/:\d+$/, ''));
  return [...new Set(candidates.filter((text) => looksLikePath(text, topFolders)))];
}

function looksLikePath(text: string, topFolders: readonly string[]): boolean {
  if (/[\s$=:@]/.test(text) || text.startsWith('/') || text.startsWith('#') || text.includes('://')) return false;
  const first = text.split('/')[0]!;
  if (text.includes('/'))
    return topFolders.includes(first) || (FILE.test(text) && first !== 'dist' && first !== 'node_modules');
  return FILE.test(text) && !text.startsWith('*');
}

/** Whether some file has this path, lies in this folder, or (a partial path) ends with it. `<name>` and `*` stand for one part, `…` for the rest. */
export function exists(named: string, files: readonly string[]): boolean {
  const pattern = named
    .replace(/\/$/, '')
    .replace(/…$/, '')
    .split(/(<[^>]+>|\*\*|\*|\{[^}]+\})/)
    .map(asPattern)
    .join('');
  const whole = new RegExp(`^(.*/)?${pattern}${named.endsWith('…') ? '' : '(/|$)'}`);
  return files.some((file) => whole.test(file));
}

function asPattern(part: string): string {
  if (part === '**') return '.*';
  if (part === '*' || part.startsWith('<')) return '[^/]+';
  if (part.startsWith('{')) return `(${part.slice(1, -1).split(',').map(literal).join('|')})`;
  return literal(part);
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
