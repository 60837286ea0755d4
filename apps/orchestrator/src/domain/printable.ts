/** A name as asked, in a form that every store and log can carry. */
export const printable = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
