import type { Runbook } from './incident-data.ts';

const WORD = /\p{Script=Han}+|[\p{L}\p{N}]+/gu;
const HAN = /^\p{Script=Han}/u;

/** Lower-case words; Chinese has no spaces, so its runs are cut into overlapping pairs. */
export function termsOf(text: string): string[] {
  const terms = (text.normalize('NFKC').toLowerCase().match(WORD) ?? []).flatMap((word) => {
    const letters = [...word];
    if (!HAN.test(word) || letters.length < 3) return [word];
    return letters.slice(1).map((letter, index) => letters[index]! + letter);
  });
  return [...new Set(terms)];
}

/** Runbooks of the service (or of all services) that hold at least one term, best first; ties by id. */
export function searchRunbooks(
  runbooks: readonly Runbook[],
  query: string,
  service: string | null,
  limit = 5,
): Runbook[] {
  const terms = termsOf(query);
  return runbooks
    .filter((runbook) => service === null || runbook.services.length === 0 || runbook.services.includes(service))
    .map((runbook) => {
      const title = new Set(termsOf(runbook.title));
      const body = new Set(termsOf(runbook.steps.join(' ')));
      return {
        runbook,
        score: terms.reduce((sum, term) => sum + (title.has(term) ? 3 : 0) + (body.has(term) ? 1 : 0), 0),
      };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.runbook.id < b.runbook.id ? -1 : 1))
    .slice(0, limit)
    .map(({ runbook }) => runbook);
}
