import { randomBytes } from 'node:crypto';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import type { BookingOffice } from './booking-office.ts';
import { ask, type System } from './system.ts';

interface RunView {
  readonly runId: string;
  readonly status: string;
  readonly compensation: string;
  readonly compensationReport: { undone: string[]; remainder: { callId: string; reason: string }[] } | null;
  readonly calls: { callId: string; tool: string; status: string }[];
}

const WAIT = { prefer: 'wait=30' };

/** The way back of a run, asked through the HTTP API and read in the source system; the same in every mode. */
export function compensationSuite(open: () => System, openOffice: () => BookingOffice): void {
  const post = <T>(path: string, body: unknown, headers: Record<string, string> = WAIT) =>
    ask<T>(open(), 'alice', 'POST', path, body, headers);
  const viewOf = async (runId: string): Promise<RunView> =>
    (await ask<RunView>(open(), 'alice', 'GET', `/v1/runs/${runId}`)).body;
  const shown = (runId: string, status: string): Promise<RunView> =>
    until(async () => {
      const view = await viewOf(runId);
      return view.compensation === status && view.compensationReport && !isOpen(view) ? view : null;
    });
  const isOpen = ({ status }: RunView): boolean => !['completed', 'failed', 'cancelled'].includes(status);
  const done = (seat: string): string[] =>
    openOffice()
      .log.filter((one) => one.seat.endsWith(seat))
      .map(({ what, seat: at, booking }) => `${what} ${at} ${booking}`);

  async function begin(onFailure: string, taskId = `task-${randomBytes(6).toString('hex')}`): Promise<string> {
    const toolset = ['booking.book'];
    const { body } = await post<RunView>('/v1/runs', { driver: 'client', toolset, onFailure, taskId }, {});
    return body.runId;
  }
  async function book(
    runId: string,
    ...seats: string[]
  ): Promise<{ callId: string; ok: boolean; data?: { booking: string } }[]> {
    const booked: { callId: string; ok: boolean; data?: { booking: string } }[] = [];
    for (const seat of seats) {
      const calls = [{ tool: 'booking.book', arguments: { seat } }];
      const { body } = await post<{ calls: typeof booked }>(`/v1/runs/${runId}/calls`, { calls });
      booked.push(body.calls[0]!);
    }
    return booked;
  }

  describe('the way back of a run', () => {
    it('two writes succeed, the third fails: the two are undone, the last first; the key may act again (G5, G7, G9)', async () => {
      const own = randomBytes(4).toString('hex');
      const taskId = `task-${own}`;
      const runId = await begin('compensate', taskId);
      const [a, , c] = await book(runId, `a-${own}`, `b-${own}`, `full-${own}`);
      expect(c).toMatchObject({ ok: false });
      const ended = await post<RunView>(`/v1/runs/${runId}/finish`, {});
      expect(ended.status).toBe(200);
      const view = await shown(runId, 'done');
      expect(view.calls.map(({ status }) => status)).toEqual([
        'compensated',
        'compensated',
        'failed',
        'succeeded',
        'succeeded',
      ]);
      expect(openOffice().bookings()).toMatchObject({ [`a-${own}`]: [], [`b-${own}`]: [] });
      expect(done(own).filter((one) => one.startsWith('cancel'))).toHaveLength(2);
      const call = await ask<{ status: string; result: { ok: boolean } }>(
        open(),
        'alice',
        'GET',
        `/v1/calls/${a!.callId}`,
      );
      expect(call.body).toMatchObject({ status: 'compensated', result: { ok: true } });
      const again = await book(await begin('keep', taskId), `a-${own}`);
      expect(again[0]).toMatchObject({ ok: true, replayed: false });
      expect(openOffice().bookings()[`a-${own}`]).toEqual([again[0]!.data!.booking]);
    });

    it('one resource is undone serially, the last first', async () => {
      const seat = `s-${randomBytes(4).toString('hex')}`;
      const runId = await begin('keep');
      const [first] = await book(runId, seat);
      const calls = [{ tool: 'booking.book', arguments: { seat, who: 'another' } }];
      await post(`/v1/runs/${runId}/calls`, { calls });
      await post(`/v1/runs/${runId}/finish`, {});
      const [, second] = openOffice().bookings()[seat]!;
      expect((await post<RunView>(`/v1/runs/${runId}/compensate`, {})).status).toBe(200);
      expect(done(seat).slice(2)).toEqual([`cancel ${seat} ${second}`, `cancel ${seat} ${first!.data!.booking}`]);
      expect(openOffice().bookings()[seat]).toEqual([]);
    });

    it('an undo that fails leaves the remainder; after a retry all is undone; a repeated command begins nothing (G9)', async () => {
      const own = randomBytes(4).toString('hex');
      const seats = [`a-${own}`, `b-${own}`] as const;
      openOffice().stuck.add(seats[0]);
      const runId = await begin('keep');
      const [a, b] = await book(runId, ...seats);
      await post(`/v1/runs/${runId}/finish`, {});
      const key = { ...WAIT, 'idempotency-key': '"undo-it"' };
      await post(`/v1/runs/${runId}/compensate`, {}, key);
      const partial = await shown(runId, 'partial');
      expect(partial.compensationReport).toMatchObject({
        undone: [b!.callId],
        remainder: [{ callId: a!.callId, reason: 'undo_failed' }],
      });
      expect(partial.calls[0]).toMatchObject({ status: 'compensation_failed' });
      await post(`/v1/runs/${runId}/compensate`, {}, key);
      expect((await viewOf(runId)).calls).toHaveLength(4);
      openOffice().stuck.delete(seats[0]);
      const calls = [{ callId: a!.callId, how: 'retry' }];
      expect((await post(`/v1/runs/${runId}/compensate`, { calls })).status).toBe(200);
      const view = await shown(runId, 'done');
      expect(view.calls.map(({ status }) => status)).toEqual([
        'compensated',
        'compensated',
        ...['succeeded', 'failed', 'succeeded'].map(() => expect.any(String)),
      ]);
      expect(openOffice().bookings()).toMatchObject({ [seats[0]]: [], [seats[1]]: [] });
    });

    it('what a person took back by other means may be done again: the same key acts, and is no replay (G7)', async () => {
      const seat = `h-${randomBytes(4).toString('hex')}`;
      const taskId = `task-${seat}`;
      openOffice().stuck.add(seat);
      const runId = await begin('keep', taskId);
      const [first] = await book(runId, seat);
      await post(`/v1/runs/${runId}/finish`, {});
      await post(`/v1/runs/${runId}/compensate`, {});
      await shown(runId, 'partial');
      const replay = await book(await begin('keep', taskId), seat);
      expect(replay[0]).toMatchObject({ ok: true, replayed: true, data: first!.data });
      const calls = [{ callId: first!.callId, how: 'done', evidence: 'cancelled by phone' }];
      expect((await post(`/v1/runs/${runId}/compensate`, { calls })).status).toBe(200);
      expect(await shown(runId, 'done')).toMatchObject({ compensationReport: { undone: [first!.callId] } });
      const again = await until(async () => {
        const [call] = await book(await begin('keep', taskId), seat);
        return (call as { replayed?: boolean }).replayed ? null : call;
      });
      expect(again).toMatchObject({ ok: true, replayed: false });
      expect(again.data!.booking).not.toBe(first!.data!.booking);
      expect(done(seat).filter((one) => one.startsWith('book'))).toHaveLength(2);
      openOffice().stuck.delete(seat);
    });

    it('an open run is cancelled and goes back, by one command (G9)', async () => {
      const seat = `o-${randomBytes(4).toString('hex')}`;
      const runId = await begin('keep');
      await book(runId, seat);
      expect((await post<RunView>(`/v1/runs/${runId}/compensate`, {})).status).toBe(200);
      const view = await shown(runId, 'done');
      expect(view).toMatchObject({ status: 'cancelled', compensationReport: { remainder: [] } });
      expect(openOffice().bookings()[seat]).toEqual([]);
    });

    it('a cancel in the middle waits for what is out; the rest is left, exactly (G9)', async () => {
      const own = randomBytes(4).toString('hex');
      const seat = `a-${own}`;
      const runId = await begin('ask');
      const [first] = await book(runId, seat);
      const calls = [{ tool: 'booking.book', arguments: { seat, who: 'another' } }];
      await post(`/v1/runs/${runId}/calls`, { calls });
      await book(runId, `full-${own}`);
      await post(`/v1/runs/${runId}/finish`, {}, {});
      await until(async () => ((await viewOf(runId)).status === 'awaiting_user' ? true : null));
      const gate = openOffice().holdBack(seat);
      await post(`/v1/runs/${runId}/compensate`, {}, {});
      await gate.asked;
      await post(`/v1/runs/${runId}/cancel`, {}, {});
      gate.letGo();
      const view = await shown(runId, 'partial');
      expect(view.compensationReport!.remainder).toMatchObject([{ callId: first!.callId, reason: 'cancelled' }]);
      expect(openOffice().bookings()[seat]).toEqual([first!.data!.booking]);
      expect(view.calls[0]).toMatchObject({ callId: first!.callId, status: 'succeeded' });
    });

    it('refuses what does not fit, and tells nothing to another tenant (G12)', async () => {
      const runId = await begin('keep');
      const calls = [{ callId: `${runId.replace('run_', 'call_')}_0001`, how: 'retry' }];
      const refused = await post<{ code: string }>(`/v1/runs/${runId}/compensate`, { calls });
      expect(refused.body.code).toBe('INVALID_ARGS');
      const foreign = await ask(open(), 'else/alice', 'POST', `/v1/runs/${runId}/compensate`, {}, WAIT);
      expect(foreign.status).toBe(404);
      const undo = await post<{ error: { code: string } }>('/v1/calls', {
        tool: 'booking.book',
        arguments: { seat: 'x', undoes: runId },
        taskId: 'task-x',
      });
      expect(undo.body.error.code).toBe('INVALID_ARGS');
    });
  });
}
