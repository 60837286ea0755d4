import { CountersignError, InfrastructureError, parseOwnJson } from '#kernel';
import type { AuditReport } from './audit-report.ts';
import { verifyTenant, type FetchJson, type VerifyPagesOptions } from './verify-pages.ts';

export interface VerifyOverHttpOptions extends VerifyPagesOptions {
  /** Where the API is, e.g. `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** Credential of an operator or auditor; it also says which tenant's ledgers are verified. */
  readonly token: string;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 67_108_864;

/**
 * Reads a tenant's ledgers over the HTTP API and verifies it: chain, completeness, signed heads.
 * @throws InfrastructureError when the API does not answer; CountersignError when it refuses (status and reason in the text)
 */
export function verifyOverHttp({ baseUrl, token, ...options }: VerifyOverHttpOptions): Promise<AuditReport> {
  return verifyTenant(httpFetcher(baseUrl, token), options);
}

function httpFetcher(baseUrl: string, token: string): FetchJson {
  return async (path) => {
    const url = new URL(path, baseUrl);
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await response.text();
    } catch (cause) {
      throw new InfrastructureError(`${url.origin} does not answer`, cause);
    }
    if (response.status === 200) return parseOwnJson(text, MAX_BYTES);
    throw new CountersignError('INTERNAL', `GET ${url.pathname} answered ${response.status}${reasonOf(text)}`);
  };
}

/** The detail of a problem document. */
function reasonOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === 'string' ? `: ${detail.slice(0, 300)}` : '';
  } catch {
    return '';
  }
}
