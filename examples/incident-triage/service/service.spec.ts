import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { JsonService } from '../../json-service.ts';
import { start } from './start.ts';
import { termsOf } from './search-runbooks.ts';

interface Body {
  readonly error?: { readonly code: string; readonly message: string };
  readonly id?: string;
  readonly alerts?: { id: string; fired_at: string }[];
  readonly runbooks?: { id: string }[];
  readonly tickets?: { id: string; idempotency_key: string | null }[];
}

describe('the incident desk of the example', () => {
  let directory: string;
  let service: JsonService;
  beforeEach(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'incident-desk-'));
    service = await start(0, directory);
  });
  afterEach(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const get = async (route: string) => {
    const response = await fetch(service.url + route);
    return { status: response.status, body: (await response.json()) as Body };
  };
  const post = async (body: unknown, key?: string) => {
    const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) };
    const response = await fetch(`${service.url}/tickets`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const tickets = async () => (await get('/tickets')).body.tickets!;
  const ticket = { severity: 'sev1', summary: 'Checkout is down', evidence_ids: ['alert-4711'] };

  it('lists the alerts of one service within the window, newest first', async () => {
    const near = await get('/alerts?service=checkout&window_minutes=60');
    expect(near.body.alerts!.map((alert) => alert.id)).toEqual(['alert-4711', 'alert-4712', 'alert-4713']);
    expect((await get('/alerts?service=checkout&window_minutes=1440')).body.alerts).toHaveLength(4);
    expect((await get('/alerts?service=nobody&window_minutes=60')).body.alerts).toEqual([]);
    for (const bad of [
      '',
      '?service=checkout',
      '?service=checkout&window_minutes=0',
      '?service=checkout&window_minutes=1e3',
      '?service=%20&window_minutes=5',
    ]) {
      expect((await get(`/alerts${bad}`)).status).toBe(400);
    }
  });

  it('finds runbooks by words, in English and in Chinese', async () => {
    const search = async (query: string, name = 'checkout') =>
      (await get(`/runbooks?${new URLSearchParams({ query, service: name })}`)).body.runbooks!.map(
        (runbook) => runbook.id,
      );
    expect((await search('5xx errors after a DEPLOY'))[0]).toBe('runbook-checkout-5xx');
    expect((await search('支付超时怎么处理'))[0]).toBe('runbook-payment-timeout-zh');
    expect((await search('超时', 'payments'))[0]).toBe('runbook-payment-timeout-zh');
    expect(await search('pool', 'search')).toEqual([]);
    expect(await search('zebra')).toEqual([]);
    expect((await get('/runbooks?query=%20%20')).status).toBe(400);
    expect(termsOf('支付网关 Timeout')).toEqual(['支付', '付网', '网关', 'timeout']);
  });

  it('the same key and content give the same ticket; other content changes nothing', async () => {
    const first = await post(ticket, 'k1');
    expect(first).toMatchObject({ status: 201, body: { id: 'INC-1001', status: 'open', ...ticket } });
    expect(await post(ticket, 'k1')).toEqual({ status: 200, body: first.body });
    expect((await post({ ...ticket, severity: 'sev2' }, 'k1')).status).toBe(409);
    expect(await tickets()).toHaveLength(1);
  });

  it('concurrent requests with one key make one ticket', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(ticket, 'k')));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(await tickets()).toHaveLength(1);
  });

  it('keys survive a restart, and a line that a crash cut off is dropped', async () => {
    const first = await post(ticket, 'k1');
    await service.close();
    appendFileSync(path.join(directory, 'tickets.jsonl'), '{"ticket":{"id":"INC-1002"');
    service = await start(0, directory);
    expect(await post(ticket, 'k1')).toEqual({ status: 200, body: first.body });
    expect((await post(ticket, 'k2')).body.id).toBe('INC-1002');
    expect(readFileSync(path.join(directory, 'tickets.jsonl'), 'utf8').trim().split('\n')).toHaveLength(2);
  });

  it('without a key each request is a ticket of its own', async () => {
    await post(ticket);
    await post(ticket);
    expect((await tickets()).map((stored) => stored.idempotency_key)).toEqual([null, null]);
  });

  it.each([
    ['no JSON', '{'],
    ['null', null],
    ['no evidence', { ...ticket, evidence_ids: [] }],
    ['a blank summary', { ...ticket, summary: ' ' }],
    ['an unknown severity', { ...ticket, severity: 'sev0' }],
    ['an unknown field', { ...ticket, extra: 1 }],
  ])('%s is refused with a reason, and nothing is opened', async (_what, body) => {
    expect(await post(body, 'k')).toMatchObject({ status: 400, body: { error: { message: expect.any(String) } } });
    expect(await tickets()).toEqual([]);
  });

  it('a body that is too large is refused, an unknown route too', async () => {
    expect((await post({ ...ticket, summary: 'x'.repeat(300_000) })).status).toBe(413);
    expect((await get('/faults')).status).toBe(404);
  });
});
