import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runFacts } from '../../../../libs/contracts/testing/run-facts.ts';
import { until } from '../../../../libs/runtime/testing/service-harness.ts';
import { readEvents } from '../../testing/event-reader.ts';
import { openGateway, type HttpGateway } from '../../testing/http-gateway.ts';
import { storedAfter } from '../../testing/stored-progress.ts';

const KEYS = { wide: 'key-wide', narrow: 'key-narrow', brief: 'key-brief', busy: 'key-busy', calm: 'key-calm' };
const { runId, facts } = runFacts();

/** A gateway with API keys, on a real port. */
describe('API keys over HTTP', () => {
  let folder: string;
  let gateway: HttpGateway;
  let base: string;
  const write = (change: Readonly<Partial<Record<keyof typeof KEYS, object>>> = {}): void => {
    const scopes = { narrow: { scopes: { tools: ['desk.other'] } } };
    const keys = (Object.keys(KEYS) as (keyof typeof KEYS)[]).map((name) => ({
      keySha256: createHash('sha256').update(KEYS[name]).digest('hex'),
      tenant: facts[0]!.message.tenant,
      principal: 'user:alice',
      kind: 'user',
      roles: ['agent'],
      ...(name === 'narrow' ? scopes.narrow : {}),
      ...change[name],
    }));
    writeFileSync(path.join(folder, 'keys.yaml'), JSON.stringify(keys));
  };
  const ask = (key: keyof typeof KEYS, method: string, url: string, body?: object): Promise<Response> =>
    fetch(new URL(url, base), {
      method,
      headers: { authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-keys-'));
    write();
    gateway = await openGateway({
      env: {
        COUNTERSIGN_DEV: '0',
        COUNTERSIGN_DEV_TENANT: facts[0]!.message.tenant,
        COUNTERSIGN_API_KEYS_FILE: path.join(folder, 'keys.yaml'),
        COUNTERSIGN_GATEWAY_RATE_PER_S: '1',
        COUNTERSIGN_GATEWAY_RATE_BURST: '8',
      },
      reads: {
        'state-store.run': () => ({ runId, tenant: facts[0]!.message.tenant, principal: 'user:alice' }),
        'state-store.progress': () => storedAfter(facts.slice(0, 1)),
      },
    });
    await gateway.service.startWorkers();
    await gateway.app.listen(0, '127.0.0.1');
    base = await gateway.app.getUrl();
  });
  afterAll(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['revoked', { revoked: true }],
    ['past its end', { expiresAt: '2020-01-01T00:00:00Z' }],
  ])('a stream that is open and silent ends when its key is %s, and says why; others go on', async (_name, change) => {
    write();
    await until(async () => (await ask('brief', 'GET', '/v1/tools')).status === 200);
    const open = (key: string) => readEvents(base, `/v1/runs/${runId}/events`, { as: key });
    const [brief, wide] = [await open(KEYS.brief), await open(KEYS.wide)];
    await until(() => brief.events.length > 0 && wide.events.length > 0);
    write({ brief: change });
    await until(() => brief.ended);
    expect(brief.text).toMatch(/event: stream.closing\ndata: \{"reason":"The credential has expired or was revoked"\}/);
    expect((await ask('brief', 'GET', '/v1/tools')).status).toBe(401);
    expect(wide.ended).toBe(false);
    wide.close();
  });

  it('a key that covers certain tools lists, shows and calls no other', async () => {
    const listed = (await (await ask('narrow', 'GET', '/v1/tools')).json()) as { items: unknown[] };
    expect(listed.items).toEqual([]);
    expect((await ask('narrow', 'GET', '/v1/tools/desk.create_ticket')).status).toBe(404);
    const call = { tool: 'desk.create_ticket', arguments: { summary: 'x' }, taskId: 't' };
    const refused = await ask('narrow', 'POST', '/v1/calls', call);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, 'PERMISSION_DENIED']);
    expect((await ask('wide', 'GET', '/v1/tools/desk.create_ticket')).status).toBe(200);
  });

  it('each key has a rate of its own; beyond it 429 says when to come back, and coming back then works', async () => {
    const answers = [];
    for (let i = 0; i < 12; i++) answers.push(await ask('busy', 'GET', '/v1/tools'));
    const refused = answers.find(({ status }) => status === 429)!;
    expect(((await refused.json()) as { code: string }).code).toBe('RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('ratelimit-policy')).toBe('"caller";q=8;w=8');
    expect((await ask('calm', 'GET', '/v1/tools')).status).toBe(200);
    await until(async () => (await ask('busy', 'GET', '/v1/tools')).status === 200);
  });
});
