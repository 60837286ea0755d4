import http from 'node:http';

export interface LevelResult {
  /** Callers at once. */
  readonly c: number;
  readonly calls: number;
  readonly perSecond: number;
  /** Milliseconds as the caller sees them. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly errors: number;
  readonly firstError: string | null;
}

/** `c` callers, each without pause, `calls` calls in all; each call carries a key of its own. */
export async function closedLoop(url: string, c: number, calls: number, prefix: string): Promise<LevelResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: c });
  const latencies: number[] = [];
  const errors: string[] = [];
  let next = 0;
  const began = performance.now();
  const caller = async (): Promise<void> => {
    while (next < calls) {
      const key = `${prefix}-${next++}`;
      const start = performance.now();
      try {
        await post(url, key, agent);
        latencies.push(performance.now() - start);
      } catch (error) {
        errors.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: c }, caller));
  const seconds = (performance.now() - began) / 1000;
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const percentile = (p: number): number =>
    round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * p))] ?? NaN);
  return {
    c,
    calls,
    perSecond: round(latencies.length / seconds, 1),
    p50: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
    errors: errors.length,
    firstError: errors[0] ?? null,
  };
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

const TIMEOUT_MS = 60_000;

/** One governed write; resolves when it is settled as succeeded. */
function post(url: string, callKey: string, agent: http.Agent): Promise<void> {
  const body = JSON.stringify({ callKey, amount: 7 });
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'idempotency-key': callKey,
    };
    const request = http.request(url, { method: 'POST', agent, headers, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode !== 200 || text.includes('"unknown":true'))
          reject(new Error(`answered ${response.statusCode}: ${text.slice(0, 200)}`));
        else resolve();
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
    request.on('error', reject);
    request.end(body);
  });
}
