import type { ToolContract } from '#contracts';
import type { ErrorDetail } from '#kernel';
import type { ChangeKind } from '#contracts';

/** `first`: the tool had no version before. */
export type Change = ChangeKind | 'first';

/** A second person looks at what a model is told anew, and at what may do more or something else. */
const REVIEWED: ReadonlySet<Change> = new Set(['first', 'text_only', 'widening', 'effect_change']);
export const needsReview = (change: Change): boolean => REVIEWED.has(change);

const SETTING = /\$\{[A-Z][A-Z0-9_]*\}/g;

/**
 * Where an HTTP tool that comes over the API may send what, by the operator's word: else whoever may publish could have
 * the executors reach any address, or carry their settings there.
 * @param allow origins and `${SETTING}`s; `*` = all
 */
export function reachFaults({ execution }: ToolContract, allow: readonly string[]): ErrorDetail[] {
  if (execution.kind !== 'http' || allow.includes('*')) return [];
  const origin = originOf(execution.url);
  const remedy = 'is not allowed here; an operator allows it by COUNTERSIGN_PUBLISH_ALLOW';
  const faults: ErrorDetail[] = [];
  if (!allow.includes(origin))
    faults.push({ path: '/execution/url', rule: 'reach', message: `${JSON.stringify(origin)} ${remedy}` });
  const texts: [string, string][] = [
    ['/execution/url', execution.url.slice(origin.length)],
    ...Object.entries(execution.headers ?? {}).map(([name, text]): [string, string] => [
      `/execution/headers/${name}`,
      text,
    ]),
  ];
  for (const [path, text] of texts)
    for (const [setting] of text.matchAll(SETTING))
      if (!allow.includes(setting)) faults.push({ path, rule: 'reach', message: `the setting ${setting} ${remedy}` });
  return faults;
}

/** Scheme, host and port as they are written, or the setting that holds them. */
const originOf = (url: string): string => /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i.exec(url)![0];
