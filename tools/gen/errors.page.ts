import { CountersignError, ERROR_CODE_NAMES, ERROR_CODES, type ErrorCode, type RetryClass } from '#kernel';
import { asProblem } from '../../apps/gateway/src/domain/problem.ts';
import { code, page, table } from './markdown.ts';

const CLASSES: Readonly<Record<RetryClass, readonly [meaning: string, remedy: string]>> = {
  model: ['the model may correct its proposal', 'Correct what `details` names, and propose it again.'],
  person: ['a person can change the answer', 'Ask the person who decides; do not repeat the call meanwhile.'],
  backoff: [
    'the same request may succeed later',
    'Send the same again later, with the same key; not before `retryAfterMs`.',
  ],
  contract: ["the tool's contract decides", 'Send it again only if `retryable` is true.'],
  decision: ['a new decision is needed', 'Propose the call again: policy judges it anew.'],
  reconcile: [
    'only finding out what happened helps',
    'Never send it again. Look in the source system, by the operation key, whether it happened.',
  ],
  never: ['nothing helps', 'Do not send the same again.'],
};

/** Where the class alone would leave somebody with a question. */
const REMEDIES: Partial<Record<ErrorCode, string>> = {
  UNKNOWN_TOOL: 'Use one of the names in `details`; ask for the list of tools.',
  TOOL_NOT_ALLOWED: 'Use a tool of the toolset of this run.',
  IDEMPOTENCY_REQUIRED:
    'Give the run or the call a `taskId`: the name of the business task that the effect belongs to.',
  PERMISSION_DENIED: 'Do not propose it again: a role or a policy must change first.',
  APPROVAL_DENIED: 'The no stands: do not propose it again in this run.',
  APPROVAL_EXPIRED: 'Propose it again when somebody can decide.',
  APPROVAL_MISMATCH: 'Read the approval again, and decide on the digest that it has now.',
  IDEMPOTENCY_CONFLICT: 'Use a key of its own for other content, or send the content that the key was first used with.',
  NOT_FOUND: 'Check the id.',
  INVALID_RESULT: 'The effect stands: do not repeat the call. Mend the tool, or the output schema of its contract.',
  RESULT_TOO_LARGE: 'The effect stands: do not repeat a write. Ask a read for less, or raise `result.maxBytes`.',
  RESULT_BLOCKED: 'The effect stands: do not repeat the call. A person may look at what was withheld.',
  DEPENDENCY_FAILED: 'See why the earlier write did not succeed; then propose this one again.',
  BUDGET_EXHAUSTED: 'Raise the limit that the message names and resume the run, or leave it ended.',
  REPEATED_CALL: 'Change the arguments or stop: the answer stays the same.',
  CANCELLED: 'Nothing was done. Start anew if it is still wanted.',
  MODEL_REFUSED: 'Change the task or the instructions.',
  MODEL_TRUNCATED: 'Ask for less at once, or use a model with a larger output.',
  MODEL_PROTOCOL: 'Look at the provider: what answers is not what the adapter speaks to.',
  INTERNAL: 'Look for the `requestId` in the logs; the same request may succeed later.',
};

const problemOf = (name: ErrorCode): number => asProblem(new CountersignError(name, ''))?.status ?? 500;

/** errors.md: the closed set of codes. */
export function errorsPage(): string {
  return page(
    'Error codes',
    'The set is closed. A result of a call carries its code in `error.code`; an HTTP request that fails itself is answered by a problem document (RFC 9457) with the code in `code`, under the status of the second column: a call that was made and failed is no failed request. `details` names places: a JSON pointer, the rule that was broken, and what is allowed.',
    table(
      ['code', 'HTTP', 'means', 'class', 'what to do'],
      ERROR_CODE_NAMES.map((name) => {
        const { retry, meaning } = ERROR_CODES[name];
        return [code(name), String(problemOf(name)), meaning, retry, REMEDIES[name] ?? CLASSES[retry][1]];
      }),
    ),
    '## Classes',
    table(
      ['class', 'means'],
      Object.entries(CLASSES).map(([name, [meaning]]) => [name, meaning]),
    ),
  );
}
