import { playScript } from '../testing/play-script.ts';
import { script, taskFor } from './script.ts';

const TASK = taskFor('order-1042', 'order-1043');
const orders = { id: 'order-1043', status: 'returned', currency: 'EUR', paid_minor: 34_900, refundable_minor: 34_900 };
const draft = { draft_id: 'draft-5001', order_id: 'order-1043', amount_minor: 34_900, currency: 'EUR' };

describe('the scripted model of refund', () => {
  it('reads both orders at once, drafts, executes each draft under the lowest limit that covers it, then answers', async () => {
    const { asked, text } = await playScript(script, TASK, {
      orders__read_order: orders,
      orders__draft_refund: draft,
      orders__execute_refund: { refund_id: 'refund-9001' },
    });
    expect(asked.map((calls) => calls.map((one) => one.name))).toEqual([
      ['orders__read_order', 'orders__read_order'],
      ['orders__draft_refund', 'orders__draft_refund'],
      ['orders__execute_refund', 'orders__execute_refund'],
      [],
    ]);
    expect(asked[0]!.map((one) => one.arguments.order_id)).toEqual(['order-1042', 'order-1043']);
    expect(asked[1]![0]!.arguments).toMatchObject({ order_id: 'order-1043', amount_minor: 34_900, currency: 'EUR' });
    expect(asked[2]![0]!.arguments).toEqual({ draft_id: 'draft-5001', up_to: 'EUR 500.00' });
    expect(text).toBe('Paid: refund-9001, refund-9001.');
  });
  it('claims no payment when the call failed (G9)', async () => {
    const { text } = await playScript(script, TASK, {
      orders__read_order: orders,
      orders__draft_refund: draft,
      orders__execute_refund: { error: { code: 'APPROVAL_DENIED' } },
    });
    expect(text).toMatch(/^Nothing was paid\. 2 refund/);
  });
  it('drafts and pays nothing when nothing could be read', async () => {
    const { asked, text } = await playScript(script, TASK, { orders__read_order: { error: { code: 'NOT_FOUND' } } });
    expect(asked).toHaveLength(2);
    expect(text).toContain('nothing was refunded');
  });
});
