const CONTROL = /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
const CONTROL_BUT_BREAKS = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /\p{Mn}|\p{Me}|\u200b|\u200d|\ufe0f/u;

/** Text from models and tools must not drive the terminal: control characters are shown as a dot, not obeyed. */
export const printable = (text: string): string => text.replace(CONTROL_BUT_BREAKS, '·');

/** The same on one line. */
export const printableLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ').replace(CONTROL, '·');

/** Columns that the text takes in a terminal: East Asian characters take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** The text, cut to so many columns. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
