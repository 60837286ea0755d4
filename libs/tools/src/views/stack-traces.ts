/** Traces of a program's inside: of use to an attacker, never to a model. Matches JavaScript, Python, Java, Go, .NET, Ruby. */
const TRACES: readonly RegExp[] = [
  /(?:^|\n)[ \t]{0,40}at (?:async )?[^\n]{1,300}:\d{1,6}:\d{1,6}\)?/,
  /Traceback \(most recent call last\)/,
  /(?:^|\n)[ \t]{0,40}at [\w.$<>]{1,300}\((?:[\w$]{1,100}\.(?:java|kt|scala):\d{1,6}|Native Method|Unknown Source)\)/,
  /(?:^|\n)goroutine \d{1,10} \[/,
  /(?:^|\n)[ \t]{0,40}at [^\n]{1,300} in [^\n]{1,300}:line \d{1,6}/,
  /(?:^|\n)[ \t]{0,40}(?:from )?[^\s\n]{1,300}\.rb:\d{1,6}:in [`']/,
];
const HINT = /(?:\b|\\[tnr])at \S|Traceback|goroutine \d|\.rb:\d/;

/** One cheap look at a whole text, or at its JSON: false = no trace can be in it. */
export const mayHoldStackTrace = (text: string): boolean => HINT.test(text);

export const holdsStackTrace = (text: string): boolean =>
  mayHoldStackTrace(text) && TRACES.some((trace) => trace.test(text));

/** Keeps what stands before the trace, such as the message of an error. */
export function cutStackTrace(text: string): string {
  if (!mayHoldStackTrace(text)) return text;
  const starts = TRACES.map((trace) => trace.exec(text)?.index ?? -1).filter((index) => index >= 0);
  return starts.length === 0
    ? text
    : `${text.slice(0, Math.min(...starts)).trimEnd()} [blocked: stack trace]`.trimStart();
}
