import { randomBytes } from 'node:crypto';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import type { BookingOffice } from './booking-office.ts';
import { ask, type System } from './system.ts';

interface Approval {
  readonly approvalId: string;
  readonly callId: string;
  readonly digest: string;
  readonly facts?: { readonly callId: string; readonly values: Readonly<Record<string, unknown>> };
}
interface Settled {
  readonly ok?: boolean;
  readonly status: string;
  readonly callId: string;
  readonly effect?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** What is judged by facts that a governed read supplied, seen through the HTTP API and in the source system. */
export function factsSuite(open: () => System, openOffice: () => BookingOffice): void {
  const propose = async (seat: string, wait: number): Promise<Settled> =>
    (
      await ask<Settled>(
        open(),
        'alice',
        'POST',
        '/v1/calls',
        { tool: 'booking.upgrade', arguments: { seat } },
        { prefer: `wait=${wait}` },
      )
    ).body;
  const asked = (callId: string): Promise<Approval> =>
    until(async () => {
      const { body } = await ask<{ items: Approval[] }>(open(), 'bob', 'GET', '/v1/approvals?status=pending&limit=200');
      return body.items.find((approval) => approval.callId === callId);
    });
  const approve = ({ approvalId, digest }: Approval) =>
    ask(open(), 'bob', 'POST', `/v1/approvals/${approvalId}/decision`, { decision: 'approved', digest });
  const result = (callId: string): Promise<Settled> =>
    until(async () => {
      const { body } = await ask<{ result: Settled | null }>(open(), 'alice', 'GET', `/v1/calls/${callId}`);
      return body.result;
    });
  const seatOf = (kind: string): string => `${kind}-${randomBytes(4).toString('hex')}`;

  describe('facts', () => {
    it('the approver sees what was read of the resource, and what was approved runs while it is still so (G3)', async () => {
      const seat = seatOf('window');
      const { callId } = await propose(seat, 0);
      const approval = await asked(callId);
      expect(approval.facts?.values).toEqual({
        ownership: 'acme',
        price: 2500,
        state: 'open',
        resourceVersion: '"v1"',
      });
      // Views follow the facts.
      const read = await until(async () => {
        const path = `/v1/calls/${approval.facts!.callId}`;
        const { body } = await ask<{ tool: string; status: string }>(open(), 'alice', 'GET', path);
        return body.status === 'succeeded' ? body : null;
      });
      expect(read.tool).toBe('booking.look@1.0.0');
      await approve(approval);
      expect(await result(callId)).toMatchObject({ ok: true });
      expect(openOffice().upgrades.filter((one) => one === seat)).toHaveLength(1);
    });

    it('a resource that changed after the approval: nothing happens, APPROVAL_MISMATCH; proposed anew it is judged by what is so now (G3)', async () => {
      const seat = seatOf('aisle');
      const first = await asked((await propose(seat, 0)).callId);
      openOffice().reprice(seat, 9000);
      await approve(first);
      expect(await result(first.callId)).toMatchObject({
        ok: false,
        effect: 'none',
        error: { code: 'APPROVAL_MISMATCH' },
      });
      expect(openOffice().upgrades).not.toContain(seat);
      const second = await asked((await propose(seat, 0)).callId);
      expect(second.facts?.values).toMatchObject({ price: 9000, resourceVersion: '"v2"' });
      expect(second.digest).not.toBe(first.digest);
      await approve(second);
      expect(await result(second.callId)).toMatchObject({ ok: true });
      expect(openOffice().upgrades.filter((one) => one === seat)).toHaveLength(1);
    });

    it('policy limits by the fact, and a fact that is missing denies: nobody is asked', async () => {
      const dear = seatOf('dear');
      openOffice().reprice(dear, 10_001);
      expect(await propose(dear, 20)).toMatchObject({
        ok: false,
        status: 'denied',
        error: { code: 'PERMISSION_DENIED' },
      });
      const bare = await propose(seatOf('bare'), 20);
      expect(bare).toMatchObject({ ok: false, status: 'rejected', error: { code: 'PERMISSION_DENIED' } });
      expect(bare.error!.message).toContain('price');
      expect(openOffice().upgrades.some((one) => /^(dear|bare)/.test(one))).toBe(false);
    });
  });
}
