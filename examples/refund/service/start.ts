import {
  fieldsOf,
  ok,
  Refused,
  serveJson,
  textOf,
  type JsonAnswer,
  type JsonRequest,
  type JsonService,
} from '../../json-service.ts';
import type { OrderInput } from './order-data.ts';
import { RefundLedger, type Answered, type Ceiling, type DraftInput } from './refund-ledger.ts';

/**
 * The order service of the example shop. It knows nothing of Countersign.
 *
 *   GET  /orders/{id}  POST /orders     (header Idempotency-Key)
 *   GET  /drafts       POST /drafts     (header Idempotency-Key)
 *   GET  /refunds      POST /refunds    (header Idempotency-Key)
 *
 * @param port 0 for a free one
 * @param dataDir where drafts and refunds are kept; they survive a restart
 */
export async function start(port: number, dataDir: string): Promise<JsonService> {
  const ledger = await RefundLedger.open(dataDir);
  return serveJson(
    port,
    (request) => answer(request, ledger),
    () => ledger.close(),
  );
}

async function answer(request: JsonRequest, ledger: RefundLedger): Promise<JsonAnswer> {
  switch (request.route) {
    case 'GET /health':
      return ok({ status: 'ok' });
    case 'GET /drafts':
      return ok({ drafts: ledger.drafts });
    case 'GET /refunds':
      return ok({ refunds: ledger.refunds });
    case 'POST /orders':
      return made(await ledger.place(orderInput(await request.json()), request.key()));
    case 'POST /drafts':
      return made(await ledger.draft(draftInput(await request.json()), request.key()));
    case 'POST /refunds': {
      const fields = fieldsOf(await request.json(), ['draft_id', 'up_to']);
      return made(await ledger.execute(textOf(fields, 'draft_id', 64), ceilingOf(fields.up_to), request.key()));
    }
  }
  const order = /^GET \/orders\/([^/]+)$/.exec(request.route)?.[1];
  if (order !== undefined) return ok(ledger.order(order));
  throw new Refused(404, `There is no ${request.route}`, 'no_such_route');
}

const made = ({ fresh, value }: Answered<unknown>): JsonAnswer => ({ status: fresh ? 201 : 200, body: value });

function orderInput(body: unknown): OrderInput {
  const fields = fieldsOf(body, ['customer', 'currency', 'paid_minor', 'status', 'items']);
  const { currency, status, items } = fields;
  if (currency !== 'EUR' && currency !== 'CNY') throw new Refused(400, 'currency must be EUR or CNY');
  if (status !== 'delivered' && status !== 'in_transit' && status !== 'returned')
    throw new Refused(400, 'status must be delivered, in_transit or returned');
  if (!Array.isArray(items) || items.length > 20 || !items.every((item) => typeof item === 'string'))
    throw new Refused(400, 'items must be at most 20 texts');
  const paid_minor = amountOf(fields, 'paid_minor');
  return { customer: textOf(fields, 'customer', 100), currency, paid_minor, status, items: items as string[] };
}

function amountOf(fields: Readonly<Record<string, unknown>>, name: string): number {
  const amount = fields[name];
  if (!Number.isSafeInteger(amount) || (amount as number) < 1)
    throw new Refused(400, `${name} must be a whole number above 0`);
  return amount as number;
}

function draftInput(body: unknown): DraftInput {
  const fields = fieldsOf(body, ['order_id', 'amount_minor', 'currency', 'reason']);
  return {
    order_id: textOf(fields, 'order_id', 64),
    amount_minor: amountOf(fields, 'amount_minor'),
    currency: textOf(fields, 'currency', 3),
    reason: textOf(fields, 'reason', 300),
  };
}

/** `EUR 50.00` → 5000 EUR. */
function ceilingOf(value: unknown): Ceiling {
  const [, currency, whole, cents] = /^([A-Z]{3}) (\d{1,9})\.(\d{2})$/.exec(String(value)) ?? [];
  if (currency === undefined) throw new Refused(400, 'up_to must be a currency and an amount, such as "EUR 50.00"');
  return { currency, minor: Number(whole) * 100 + Number(cents) };
}
