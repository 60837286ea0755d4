import { callSettledSchema, type CallSettled } from '#contracts';
import { ERROR_CODES } from '#kernel';
import { executorError } from './settlement.ts';

const GONE = 'The result of this call was kept for its time and is gone. Its effect stands.';

/**
 * What is left of a call's record when its payloads go: who, which tool, the digests, the status and the effect, so that a repeat of
 * its key is answered as before, without the result. Texts of tools and people go too. Shrinking again changes nothing.
 */
export function shrinkRecord(settlement: string): string {
  const record = JSON.parse(settlement) as { readonly data: unknown };
  const data = callSettledSchema.parse(record.data);
  return JSON.stringify({ ...record, data: { ...data, error: errorOf(data), result: resultOf(data) } });
}

const errorOf = ({ error }: CallSettled): CallSettled['error'] =>
  error && { ...error, message: ERROR_CODES[error.code].meaning, details: undefined };

const resultOf = ({ result }: CallSettled): CallSettled['result'] =>
  result && {
    ...result,
    sanitized: null,
    model: GONE,
    evidence: { resourceIds: result.evidence.resourceIds, sources: [] },
    fault: executorError('RESULT_EXPIRED'),
  };
