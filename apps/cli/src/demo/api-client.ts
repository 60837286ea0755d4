import { setTimeout as delay } from 'node:timers/promises';
import { CountersignError } from '#kernel';

/** The gateway as this command sees it; a gateway that restarts is waited for, with the same idempotency key. */
export interface ApiClient {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object, options?: { readonly key?: string }): Promise<T>;
}

const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

export function apiClient(base: string, credential: string): ApiClient {
  const send = async <T>(method: string, path: string, body: object | null, key?: string): Promise<T> => {
    for (const until = Date.now() + PATIENCE_MS; ; await delay(PAUSE_MS)) {
      const response = await fetch(new URL(path, base), {
        method,
        headers: {
          authorization: `Bearer ${credential}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(key ? { 'idempotency-key': `"${key}"` } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(30_000),
      }).catch((error: unknown) => error as Error);
      const away = response instanceof Error || response.status === 503 || response.status === 429;
      if (away && Date.now() < until) continue;
      if (response instanceof Error)
        throw new CountersignError('UPSTREAM_UNAVAILABLE', `the gateway at ${base} does not answer`, {
          cause: response,
        });
      const answer = (await response.json()) as T & { code?: string; detail?: string };
      if (!response.ok)
        throw new CountersignError(
          'UPSTREAM_ERROR',
          `${method} ${path} answered ${response.status} ${answer.code ?? ''}: ${answer.detail ?? ''}`,
        );
      return answer;
    }
  };
  return {
    get: (path) => send('GET', path, null),
    post: (path, body, options) => send('POST', path, body, options?.key),
  };
}

export interface CallSummary {
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly tool: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly replayed: boolean;
  readonly approvalId: string | null;
}

export interface RunView {
  readonly runId: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly cause: { readonly code: string; readonly message: string } | null;
  readonly answer: string | null;
  readonly calls: readonly CallSummary[];
}

export type { ApprovalView } from '../client/views.ts';

export const ENDED = new Set(['completed', 'stopped', 'failed', 'budget_exhausted', 'cancelled']);
