import type { RequestTurn } from '#contracts';
import { ERROR_CODES } from '#kernel';
import { limitEnd } from './ends.ts';
import { isOut, isReplaced, isSettled, type Call, type OutCall, type SettledCall } from './call-state.ts';
import { budgetsOf, type End, type Run } from './run-state.ts';
import { MICROS } from './tenant-budget.ts';
import { tenantEnd } from './tenant-use.ts';
import { nextInputTokens } from './usage.ts';

/**
 * Which limit keeps a run from going on. Reserved before the action, settled with the actual use after it (G8).
 *
 * L1 before a request to the model: turns, tokens, cost, result bytes. Output tokens and cost are also passed with the
 *    request, so that the answer cannot be longer than what is left.
 * L2 at admission of a proposal: calls and corrections.
 * L3 when a call's turn has come: calls at once, repetition and failures of its tool in a row (release-gate.ts). A call
 *    that is out counts as one that will change nothing until it has ended: the next one like it waits for it.
 * L4 a refusal for repetition or failures is advice first: the run stops when the refused thing is proposed again.
 *    A client asks no model: result bytes stop its run as soon as they are passed.
 * L5 what a stop leaves is answered: each proposal has its settlement, and its result waits for the next request.
 */

/** The least that a provider takes as a limit of an answer. */
const MIN_OUTPUT_TOKENS = 16;

/** null: the model may be asked. */
export function stopBeforeTurn(run: Run): End | null {
  const { maxTurns, maxInputTokens, maxOutputTokens, maxCostUsd, maxResultBytes } = budgetsOf(run);
  const { turns, used } = run.state;
  const made = turns - used.unsentTurns;
  if (made >= maxTurns) return limitEnd('maxTurns', maxTurns, `${made} turns were used`);
  const input = nextInputTokens(run);
  if (used.inputTokens + input > maxInputTokens)
    return limitEnd(
      'maxInputTokens',
      maxInputTokens,
      `${used.inputTokens} tokens were used and the next turn needs about ${input}`,
    );
  if (maxOutputTokens - used.outputTokens < MIN_OUTPUT_TOKENS)
    return limitEnd('maxOutputTokens', maxOutputTokens, `${used.outputTokens} tokens were used`);
  if (used.costUsd > 0 && used.costUsd >= maxCostUsd)
    return limitEnd('maxCostUsd', maxCostUsd, `${used.costUsd.toFixed(4)} US dollars were used`);
  return used.resultBytes > maxResultBytes ? bytesEnd(maxResultBytes, used.resultBytes) : null;
}

const bytesEnd = (limit: number, bytes: number): End =>
  limitEnd('maxResultBytes', limit, `the results have ${bytes} bytes`);

/** What is left for the next turn. */
export function turnLimits(run: Run): NonNullable<RequestTurn['limits']> {
  const { maxOutputTokens, maxCostUsd, allowUnknownCost } = budgetsOf(run);
  const { used, reserved } = run.state;
  const own = {
    maxOutputTokens: maxOutputTokens - used.outputTokens,
    maxCostUsd: allowUnknownCost ? null : Math.max(0, maxCostUsd - used.costUsd),
  };
  if (!reserved) return own;
  const reserves = (kind: string): boolean => reserved.meters.some((meter) => meter.kind === kind);
  return {
    ...own,
    ...(reserves('tokens') ? { maxTokens: reserved.tokens } : {}),
    ...(reserves('costUsd') ? { maxCostUsd: Math.min(own.maxCostUsd ?? Infinity, reserved.cost / MICROS) } : {}),
  };
}

/** null: the run may take or release more calls. Looks at the episode alone: what stopped an earlier one was answered by a raise. */
export function stopAfterCalls(run: Run): End | null {
  const { maxCalls, maxRepeats, maxToolFailures, maxCorrections, maxResultBytes } = budgetsOf(run);
  const from = run.state.resumes.at(-1)?.batch ?? 0;
  const recent = run.state.calls.filter((call): call is SettledCall => isSettled(call) && call.batch >= from);
  if (run.definition.driver === 'client' && run.state.used.resultBytes > maxResultBytes)
    return bytesEnd(maxResultBytes, run.state.used.resultBytes);
  const byTenant = recent.find((call) => call.tenantLimit)?.tenantLimit;
  if (byTenant) return tenantEnd(byTenant);
  if (recent.some((call) => call.limit === 'maxCalls'))
    return limitEnd('maxCalls', maxCalls, `${callsUsed(run.state.calls)} calls were made and more were proposed`);
  const repeated = insisted(recent, 'maxRepeats', (call) => call.asked);
  if (repeated)
    return limitEnd(
      'maxRepeats',
      maxRepeats,
      `${repeated.tool} was proposed again with the same arguments after its refusal, and nothing had changed`,
      'REPEATED_CALL',
    );
  const failing = insisted(recent, 'maxToolFailures', (call) => call.tool);
  if (failing)
    return limitEnd(
      'maxToolFailures',
      maxToolFailures,
      `${failing.tool} failed ${failuresInARow(run.state.calls, failing.tool)} times in a row and was proposed again`,
    );
  for (const tool of new Set(recent.filter(isInvalid).map((call) => call.tool))) {
    const tries = invalidTries(run.state.calls, tool);
    if (tries > maxCorrections)
      return limitEnd(
        'maxCorrections',
        maxCorrections,
        `${tries} proposals of ${tool} in a row did not fit its contract`,
      );
  }
  return null;
}

/** A call that this limit refused in two batches. */
function insisted(
  calls: readonly SettledCall[],
  limit: SettledCall['limit'],
  same: (call: SettledCall) => string | undefined,
): SettledCall | undefined {
  const refused = calls.filter((call) => call.limit === limit);
  return refused.find((call) => refused.some((other) => same(other) === same(call) && other.batch < call.batch));
}

/** Calls that count: not those which there was no room or no time for, or that were made with other arguments. */
export const callsUsed = (calls: readonly Call[]): number =>
  calls.filter(
    (call) =>
      !isReplaced(call) &&
      call.factsFor === undefined &&
      !(isSettled(call) && (call.limit === 'maxCalls' || call.limit === 'wallClockMs' || call.tenantLimit)),
  ).length;

/** How often this call ended the same way in the end, and how many like it are out. */
export function repeatsOf(calls: readonly Call[], asked: string): { unchanged: number; out: number } {
  const same = calls.filter((call): call is OutCall | SettledCall => call.state !== 'held' && askedOf(call) === asked);
  const ended = same.filter((call): call is SettledCall => isSettled(call) && call.status !== 'rejected');
  const last = ended.at(-1)?.came;
  const changed = ended.findLastIndex((call) => call.came !== last);
  return { unchanged: ended.length - 1 - changed, out: same.filter(isOut).length };
}

const DIGEST_PREFIX = 'sha256:'.length;
/** Enough to tell calls of one run apart. */
export const shortDigest = (digest: string): string => digest.slice(DIGEST_PREFIX, DIGEST_PREFIX + 24);

const askedOf = (call: OutCall | SettledCall): string | undefined =>
  isSettled(call) ? call.asked : shortDigest(call.proposal.argumentsDigest);

/** Neither a denial nor an absent resource says that the tool does not work. */
export function failuresInARow(calls: readonly Call[], tool: string): number {
  let count = 0;
  for (const call of [...calls].reverse()) {
    if (call.tool !== tool || !isSettled(call)) continue;
    if (call.status === 'succeeded' || call.errorCode === 'NOT_FOUND') break;
    if (call.status === 'failed' || call.status === 'outcome_unknown') count++;
  }
  return count;
}

const isInvalid = (call: Call): boolean =>
  isSettled(call) &&
  call.status === 'rejected' &&
  call.errorCode !== null &&
  ERROR_CODES[call.errorCode].retry === 'model';

/** Batches since the tool's last valid call in which it was proposed with faults: several at once are one try. */
function invalidTries(calls: readonly Call[], tool: string): number {
  const own = calls.filter((call) => call.tool === tool);
  const since = own.findLastIndex((call) => !isInvalid(call));
  return new Set(own.slice(since + 1).map((call) => call.batch)).size;
}
