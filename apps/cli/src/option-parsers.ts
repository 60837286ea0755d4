import { InvalidArgumentError } from 'commander';
import { APPROVAL_ID_PATTERN, CALL_ID_PATTERN, RUN_ID_PATTERN, STANDING_ID_PATTERN } from '#kernel';

/** For `--limit` and the like. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    return value;
  };

/** Gathers `--label key=value`, which may be given several times. */
export function labels(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give it as key=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

const idOf =
  (pattern: RegExp, what: string, example: string) =>
  (text: string): string => {
    if (!pattern.test(text)) throw new InvalidArgumentError(`Give the id of ${what}, such as ${example}.`);
    return text;
  };

export const runId = idOf(RUN_ID_PATTERN, 'a run', 'run_01kb…');
export const callId = idOf(CALL_ID_PATTERN, 'a call', 'call_01kb…_0001');
export const standingId = idOf(STANDING_ID_PATTERN, 'a standing grant', 'stand_01kb…');
export const approvalId = idOf(APPROVAL_ID_PATTERN, 'an approval', 'appr_01kb…');

export function digest(text: string): string {
  if (!/^sha256:[0-9a-f]{64}$/.test(text))
    throw new InvalidArgumentError('Give the digest that "approvals show" prints: sha256:… with 64 hex digits.');
  return text;
}

export function filled(text: string): string {
  if (text.trim() === '' || text.includes('\0')) throw new InvalidArgumentError('It must not be empty.');
  return text;
}
