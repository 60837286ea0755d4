import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { JsonService } from '../../json-service.ts';
import { start } from './start.ts';

interface Body {
  readonly id?: string;
  readonly draft_id?: string;
  readonly refund_id?: string;
  readonly refundable_minor?: number;
  readonly drafts?: { draft_id: string; status: string; idempotency_key: string | null }[];
  readonly refunds?: { refund_id: string; amount_minor: number; idempotency_key: string | null }[];
  readonly error?: { code: string; message: string };
}

describe('the order service of the refund example', () => {
  let directory: string;
  let service: JsonService;
  beforeEach(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'orders-'));
    service = await start(0, directory);
  });
  afterEach(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const answerOf = async (response: Response) => ({ status: response.status, body: (await response.json()) as Body });
  const get = async (route: string) => answerOf(await fetch(service.url + route));
  const post = async (route: string, body: unknown, key?: string) =>
    answerOf(
      await fetch(service.url + route, {
        method: 'POST',
        headers: key === undefined ? {} : { 'idempotency-key': key },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  const draft = { order_id: 'order-1042', amount_minor: 3_000, currency: 'EUR', reason: 'dented' };
  const drafted = async (over: object = {}, key?: string) =>
    (await post('/drafts', { ...draft, ...over }, key)).body.draft_id!;
  const refunds = async () => (await get('/refunds')).body.refunds!;
  const refundable = async () => (await get('/orders/order-1042')).body.refundable_minor;

  it('a draft moves no money; its execution does, once', async () => {
    const draft_id = await drafted();
    expect(await refundable()).toBe(12_990);
    expect(await post('/refunds', { draft_id, up_to: 'EUR 50.00' }, 'k')).toMatchObject({
      status: 201,
      body: { draft_id, order_id: 'order-1042', amount_minor: 3_000, currency: 'EUR' },
    });
    expect(await refundable()).toBe(9_990);
    expect((await get('/drafts')).body.drafts).toEqual([expect.objectContaining({ draft_id, status: 'executed' })]);
  });

  it('an order is placed once for each key, and can be refunded', async () => {
    const sale = { customer: '李雷', currency: 'CNY', paid_minor: 5_000, status: 'delivered', items: ['杯子'] };
    const placed = await post('/orders', sale, 'sale');
    expect(await post('/orders', sale, 'sale')).toEqual({ status: 200, body: placed.body });
    expect((await post('/orders', { ...sale, paid_minor: 0 })).status).toBe(400);
    expect((await post('/orders', { ...sale, items: [1] })).status).toBe(400);
    const order_id = placed.body.id!;
    expect((await get(`/orders/${order_id}`)).body).toEqual({ id: order_id, ...sale, refundable_minor: 5_000 });
    expect((await post('/drafts', { ...draft, order_id, currency: 'CNY', amount_minor: 5_000 })).status).toBe(201);
  });

  it('a second execution of the same draft is refused, whatever the key and however many at once', async () => {
    const draft_id = await drafted();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => post('/refunds', { draft_id, up_to: 'EUR 50.00' }, `k${index}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
    expect(answers.find(({ status }) => status === 409)!.body.error!.code).toBe('already_executed');
    expect(await refunds()).toHaveLength(1);
  });

  it('the same key and content give what they gave, also after a restart; other content changes nothing', async () => {
    const first = await post('/drafts', draft, 'd');
    expect(await post('/drafts', draft, 'd')).toEqual({ status: 200, body: first.body });
    expect((await post('/drafts', { ...draft, amount_minor: 1 }, 'd')).body.error!.code).toBe('key_conflict');
    const paid = await post('/refunds', { draft_id: first.body.draft_id, up_to: 'EUR 50.00' }, 'r');
    await service.close();
    appendFileSync(path.join(directory, 'refunds.jsonl'), '{"kind":"refund","va');
    service = await start(0, directory);
    const again = { draft_id: first.body.draft_id, up_to: 'EUR 50.00' };
    expect(await post('/refunds', again, 'r')).toEqual({ status: 200, body: paid.body });
    expect((await post('/refunds', { ...again, up_to: 'EUR 500.00' }, 'r')).status).toBe(409);
    expect(await refunds()).toHaveLength(1);
  });

  it.each([
    ['EUR 29.99', 'below the amount'],
    ['CNY 400.00', 'in another currency'],
  ])('nothing is paid under a limit of %s, which is %s', async (up_to) => {
    const draft_id = await drafted();
    expect(await post('/refunds', { draft_id, up_to }, 'k')).toMatchObject({
      status: 422,
      body: { error: { code: 'above_limit' } },
    });
    expect(await refunds()).toEqual([]);
    expect((await post('/refunds', { draft_id, up_to: 'EUR 30.00' }, 'k2')).status).toBe(201);
  });

  it('all refunds of an order stay within what was paid, also when two drafts together exceed it', async () => {
    expect((await post('/drafts', { ...draft, amount_minor: 12_991 })).body.error!.code).toBe('above_refundable');
    const ids = [await drafted({ amount_minor: 8_000 }), await drafted({ amount_minor: 8_000 })];
    const answers = await Promise.all(
      ids.map((draft_id) => post('/refunds', { draft_id, up_to: 'EUR 500.00' }, draft_id)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await refundable()).toBe(4_990);
  });

  it.each([
    ['/drafts', 'no JSON', '{', 400],
    ['/drafts', 'an unknown order', { ...draft, order_id: 'order-1' }, 404],
    ['/drafts', 'another currency', { ...draft, currency: 'CNY' }, 422],
    ['/drafts', 'an amount of 0', { ...draft, amount_minor: 0 }, 400],
    ['/drafts', 'half a cent', { ...draft, amount_minor: 0.5 }, 400],
    ['/drafts', 'an amount as text', { ...draft, amount_minor: '3000' }, 400],
    ['/drafts', 'an unknown field', { ...draft, extra: 1 }, 400],
    ['/refunds', 'an unknown draft', { draft_id: 'draft-1', up_to: 'EUR 50.00' }, 404],
    ['/refunds', 'no limit', { draft_id: 'draft-1' }, 400],
    ['/refunds', 'a limit that is no amount', { draft_id: 'draft-1', up_to: 'EUR lots' }, 400],
  ])('%s with %s is refused with a reason, and nothing changes', async (route, _what, body, status) => {
    expect(await post(route, body, 'k')).toMatchObject({ status, body: { error: { message: expect.any(String) } } });
    expect((await get('/drafts')).body.drafts).toEqual([]);
    expect(await refunds()).toEqual([]);
  });
});
