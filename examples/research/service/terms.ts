const WORD = /\p{Script=Han}+|[\p{L}\p{N}]+/gu;
const HAN = /^\p{Script=Han}/u;

/** What is indexed and searched: words for PostgreSQL's English configuration, and terms that are taken as they are. */
export interface Terms {
  readonly words: readonly string[];
  readonly exact: readonly string[];
}

/**
 * Chinese has no spaces and PostgreSQL no parser for it, so its runs are cut into overlapping pairs: 行道树 → 行道, 道树.
 * @param single also the single characters: for the index, so that a query of one character finds something
 */
export function termsOf(text: string, single: boolean): Terms {
  const words: string[] = [];
  const exact: string[] = [];
  // compatibility forms are one: full-width letters and digits find the ordinary ones
  for (const word of text.normalize('NFKC').toLowerCase().match(WORD) ?? []) {
    if (!HAN.test(word)) {
      words.push(word);
      continue;
    }
    const characters = [...word];
    exact.push(...characters.slice(1).map((character, index) => characters[index]! + character));
    if (single || characters.length === 1) exact.push(...characters);
  }
  return { words, exact };
}
