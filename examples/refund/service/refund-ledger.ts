import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openJsonLines } from '../../json-lines.ts';
import { Refused } from '../../json-service.ts';
import { ORDERS, type Order, type OrderInput } from './order-data.ts';

/**
 * Orders, drafts and refunds in one append-only file of JSON lines. A refund has two phases: a draft moves no money.
 *
 * L1 an answer is given only after its line is on the disk (fsync).
 * L2 the same key with the same content gives the same order, draft or refund, also after a restart and between concurrent requests;
 *    with other content it changes nothing.
 * L3 a draft is executed at most once, whatever the key.
 * L4 a draft is executed only under a ceiling of its own currency that is not below its amount: who allows "up to 50" pays 50 at most.
 * L5 the refunds of an order never exceed what was paid for it.
 * L6 a line that a crash cut off is dropped: nobody was told of it.
 */
export interface Draft {
  readonly draft_id: string;
  readonly order_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly reason: string;
  readonly status: 'drafted' | 'executed';
}
export interface Refund {
  readonly refund_id: string;
  readonly draft_id: string;
  readonly order_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly executed_at: string;
}
export interface DraftInput {
  readonly order_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly reason: string;
}
export interface Ceiling {
  readonly currency: string;
  readonly minor: number;
}

type Entry = { readonly key: string | null; readonly content: string } & (
  | { readonly kind: 'draft'; readonly value: Omit<Draft, 'status'> }
  | { readonly kind: 'refund'; readonly value: Refund }
  | { readonly kind: 'order'; readonly value: Order }
);
export type Kept<T> = T & { readonly idempotency_key: string | null };
export interface Answered<T> {
  /** False: the key was known, this is what it made. */
  readonly fresh: boolean;
  readonly value: T;
}

export class RefundLedger {
  readonly #file: FileHandle;
  readonly #entries: Entry[] = [];
  readonly #byKey = new Map<string, Entry>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle, entries: readonly Entry[]) {
    this.#file = file;
    for (const entry of entries) this.#keep(entry);
  }

  static async open(dataDir: string): Promise<RefundLedger> {
    const { file, entries } = await openJsonLines<Entry>(dataDir, 'refunds.jsonl');
    return new RefundLedger(file, entries);
  }

  get drafts(): Kept<Draft>[] {
    return this.#entries.flatMap((entry) =>
      entry.kind === 'draft' ? [{ ...this.#asDraft(entry.value), idempotency_key: entry.key }] : [],
    );
  }

  get refunds(): Kept<Refund>[] {
    return this.#entries.flatMap((entry) =>
      entry.kind === 'refund' ? [{ ...entry.value, idempotency_key: entry.key }] : [],
    );
  }

  get orders(): Order[] {
    return [...ORDERS, ...this.#entries.flatMap((entry) => (entry.kind === 'order' ? [entry.value] : []))];
  }

  /** The order with what can still be refunded. @throws Refused 404 */
  order(id: string): Order & { readonly refundable_minor: number } {
    const order = this.orders.find((one) => one.id === id);
    if (!order) throw new Refused(404, 'There is no such order', 'order_not_found');
    const refunded = this.refunds.filter((refund) => refund.order_id === id);
    return {
      ...order,
      refundable_minor: order.paid_minor - refunded.reduce((sum, refund) => sum + refund.amount_minor, 0),
    };
  }

  /** A sale. @throws Refused 409 (L2): nothing was changed */
  place(input: OrderInput, key: string | null): Promise<Answered<Order>> {
    return this.#inTurn(async () => {
      const { customer, currency, paid_minor, status, items } = input;
      const content = digestOf(['order', customer, currency, paid_minor, status, items]);
      const known = this.#known(key, content);
      if (known?.kind === 'order') return { fresh: false, value: known.value };
      const value: Order = { id: `order-${3001 + this.orders.length}`, customer, currency, paid_minor, status, items };
      await this.#write({ kind: 'order', key, content, value });
      return { fresh: true, value };
    });
  }

  /** @throws Refused 404, 409 (L2), 422 (L5): nothing was changed */
  draft(input: DraftInput, key: string | null): Promise<Answered<Draft>> {
    return this.#inTurn(async () => {
      const content = digestOf(['draft', input.order_id, input.amount_minor, input.currency, input.reason]);
      const known = this.#known(key, content);
      if (known?.kind === 'draft') return { fresh: false, value: this.#asDraft(known.value) };
      this.#checkAmount(input);
      const value = { draft_id: `draft-${5001 + this.drafts.length}`, ...input };
      await this.#write({ kind: 'draft', key, content, value });
      return { fresh: true, value: this.#asDraft(value) };
    });
  }

  /** @throws Refused 404, 409 (L2, L3), 422 (L4, L5): nothing was changed */
  execute(draftId: string, ceiling: Ceiling, key: string | null): Promise<Answered<Refund>> {
    return this.#inTurn(async () => {
      const content = digestOf(['refund', draftId, ceiling.currency, ceiling.minor]);
      const known = this.#known(key, content);
      if (known?.kind === 'refund') return { fresh: false, value: known.value };
      const draft = this.drafts.find((one) => one.draft_id === draftId);
      if (!draft) throw new Refused(404, 'There is no such draft', 'draft_not_found');
      if (draft.status === 'executed') throw new Refused(409, 'This draft was executed before', 'already_executed');
      if (ceiling.currency !== draft.currency || ceiling.minor < draft.amount_minor)
        throw new Refused(422, 'The draft is above the limit that was given for it', 'above_limit');
      this.#checkAmount(draft);
      const { draft_id, order_id, amount_minor, currency } = draft;
      const value: Refund = {
        refund_id: `refund-${9001 + this.refunds.length}`,
        draft_id,
        order_id,
        amount_minor,
        currency,
        executed_at: new Date().toISOString(),
      };
      await this.#write({ kind: 'refund', key, content, value });
      return { fresh: true, value };
    });
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  /** One after the other: two requests for one key, draft or order must meet. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #known(key: string | null, content: string): Entry | undefined {
    const known = key === null ? undefined : this.#byKey.get(key);
    if (known && known.content !== content)
      throw new Refused(409, 'This Idempotency-Key was used with other content', 'key_conflict');
    return known;
  }

  #checkAmount({ order_id, amount_minor, currency }: Omit<DraftInput, 'reason'>): void {
    const order = this.order(order_id);
    if (currency !== order.currency)
      throw new Refused(422, `This order was paid in ${order.currency}`, 'wrong_currency');
    if (amount_minor > order.refundable_minor)
      throw new Refused(422, `At most ${order.refundable_minor} can be refunded of this order`, 'above_refundable');
  }

  #asDraft(value: Omit<Draft, 'status'>): Draft {
    const executed = this.#entries.some((one) => one.kind === 'refund' && one.value.draft_id === value.draft_id);
    return { ...value, status: executed ? 'executed' : 'drafted' };
  }

  async #write(entry: Entry): Promise<void> {
    await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
    await this.#file.sync();
    this.#keep(entry);
  }

  #keep(entry: Entry): void {
    this.#entries.push(entry);
    if (entry.key !== null) this.#byKey.set(entry.key, entry);
  }
}

const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
