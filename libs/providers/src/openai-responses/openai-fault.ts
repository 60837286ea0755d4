import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { ProviderFault } from '../provider.port.ts';

/** Longest wait that a server may ask for; beyond it our own backoff counts. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Names what the SDK threw: which code, and whether asking again can help. */
export function openAiFault(error: unknown, nowMs: number): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof APIUserAbortError) return unavailable('The request was given up', error, { retryable: true });
  if (error instanceof APIConnectionTimeoutError)
    return unavailable('The model provider did not answer in time', error, { retryable: true });
  if (error instanceof APIConnectionError) {
    return unavailable(
      'The model provider cannot be reached: check COUNTERSIGN_OPENAI_BASE_URL and the network',
      error,
      { retryable: true },
    );
  }
  if (error instanceof APIError && typeof error.status === 'number') return httpFault(error as StatusError, nowMs);
  if (error instanceof SyntaxError) {
    return new ProviderFault('MODEL_PROTOCOL', 'The answer of the model provider is not JSON', {
      retryable: false,
      cause: error,
    });
  }
  return unavailable('The connection to the model provider broke off', error, { retryable: true });
}

type StatusError = APIError<number, Headers>;

const unavailable = (
  message: string,
  cause: unknown,
  options: { retryable: boolean; retryAfterMs?: number | null },
): ProviderFault => new ProviderFault('MODEL_UNAVAILABLE', message, { ...options, cause });

function httpFault(error: StatusError, nowMs: number): ProviderFault {
  const where = describe(error);
  const says = error.headers?.get('x-should-retry');
  switch (error.status) {
    case 401:
      return unavailable(`The model provider refused the key: check OPENAI_API_KEY (${where})`, error, {
        retryable: false,
      });
    case 403:
      return unavailable(`The model provider does not allow this key to use the model (${where})`, error, {
        retryable: false,
      });
    case 404:
      return unavailable(
        `The model or the address is unknown to the provider: check the agent's model and COUNTERSIGN_OPENAI_BASE_URL (${where})`,
        error,
        { retryable: false },
      );
    case 429:
      if (error.code === 'insufficient_quota' || error.type === 'insufficient_quota') {
        return unavailable(`The quota of the provider account is used up: waiting does not help (${where})`, error, {
          retryable: false,
        });
      }
      return unavailable(`The model provider limits the rate (${where})`, error, {
        retryable: says !== 'false',
        retryAfterMs: retryAfter(error.headers, nowMs),
      });
    default:
      if (
        says === 'true' ||
        (says !== 'false' && (error.status === 408 || error.status === 409 || error.status >= 500))
      ) {
        return unavailable(`The model provider is not available (${where})`, error, {
          retryable: true,
          retryAfterMs: retryAfter(error.headers, nowMs),
        });
      }
      if (error.status >= 500)
        return unavailable(`The model provider is not available (${where})`, error, { retryable: false });
      return new ProviderFault('MODEL_PROTOCOL', `The model provider refused the request (${where})`, {
        retryable: false,
        cause: error,
      });
  }
}

/** Status, codes and request id; the provider's own sentence is left out, for it may quote content or a key. */
function describe(error: StatusError): string {
  const word = (name: string, value: unknown): string[] =>
    typeof value === 'string' && /^[\w.[\]-]{1,80}$/.test(value) ? [`${name} ${value}`] : [];
  return [
    `HTTP ${error.status}`,
    ...word('code', error.code),
    ...word('type', error.type),
    ...word('at', error.param),
    ...word('request', error.requestID),
  ].join(', ');
}

/** `retry-after-ms`, then `retry-after` in seconds or as a date. Milliseconds, or null. */
function retryAfter(headers: Headers | undefined, nowMs: number): number | null {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  const text = headers?.get('retry-after') ?? '';
  const wait = Number.isFinite(ms)
    ? ms
    : /^\s*\d+(\.\d+)?\s*$/.test(text)
      ? Number(text) * 1000
      : Date.parse(text) - nowMs;
  return Number.isFinite(wait) && wait >= 0 && wait <= MAX_RETRY_AFTER_MS ? wait : null;
}
