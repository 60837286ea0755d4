import type { ToolRef } from '#contracts';

const MODEL_SEPARATOR = '__';
const LISTED = 20;

const nameOf = (ref: ToolRef): string => ref.tool.slice(0, ref.tool.lastIndexOf('@'));
const versionOf = (ref: ToolRef): readonly number[] =>
  ref.tool
    .slice(ref.tool.lastIndexOf('@') + 1)
    .split('.')
    .map(Number);

/** `ns.name`, `ns.name@version` or the model-visible `ns__name`, within the toolset; of several versions the highest. */
export function resolveTool(asked: string, toolset: readonly ToolRef[]): ToolRef | undefined {
  const name = asked.replace(MODEL_SEPARATOR, '.');
  const exact = toolset.find((ref) => ref.tool === name);
  if (exact) return exact;
  return toolset.filter((ref) => nameOf(ref) === name).sort((a, b) => compareVersions(versionOf(b), versionOf(a)))[0];
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at === -1 ? 0 : a[at]! - (b[at] ?? 0);
}

/** Names of the toolset that the asker may have meant; never a name from outside it (G12). */
export function nearTools(asked: string, toolset: readonly ToolRef[], forModel: boolean): string[] {
  const wanted = simplify(asked);
  const names = [...new Set(toolset.map(nameOf))];
  const near = names.filter((name) => {
    const own = simplify(name);
    return (
      own.includes(wanted) ||
      wanted.includes(own) ||
      own.split('.').at(-1) === wanted.split('.').at(-1) ||
      differsLittle(own, wanted)
    );
  });
  const shown = (near.length > 0 ? near : names).slice(0, LISTED);
  return forModel ? shown.map((name) => name.replace('.', MODEL_SEPARATOR)) : shown;
}

const simplify = (name: string): string =>
  name.slice(0, 64).toLowerCase().replace(MODEL_SEPARATOR, '.').replaceAll('-', '_');

/** At most a few edits apart (Levenshtein), for names of at most 64 characters. */
function differsLittle(a: string, b: string): boolean {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    previous = current;
  }
  return previous[b.length]! <= Math.max(2, Math.floor(a.length / 4));
}
