import type { CallView } from '../../client/views.ts';
import type { Output } from '../../output/output.ts';
import { printable } from '../../output/printable.ts';
import { toneOf } from '../../output/tones.ts';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** The two largest units: `2 d 3 h`. */
export function ageText(ms: number): string {
  let rest = ms;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** What is known of the call, and how. */
export function printUnknown(out: Output, call: CallView): void {
  const found = call.reconciliation;
  out.fields([
    ['call', call.callId],
    ['run', call.runId],
    ['tool', call.tool],
    ['status', call.status, toneOf(call.status)],
    ['effect', call.effect],
    ['attempts', call.attempts],
    ['asked by', call.principal],
    ['error', call.result?.ok === false ? `${call.result.error.code}: ${call.result.error.message}` : call.errorCode],
    ['found out by', found ? `${found.by}${found.person === null ? '' : ` (${found.person})`}, ${found.at}` : null],
    ['proposed', found?.proposed ?? null],
  ]);
  if (!found) return;
  out.line();
  out.line(out.paint('strong', 'Evidence (untrusted)'));
  out.line(printable(found.evidence));
}
