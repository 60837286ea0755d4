import type { Incoming } from '#bus';
import { message } from '#contracts';
import { newId } from '#kernel';
import { keys, Watchers, type WatchedType } from './watchers.ts';

const refusal = (tenant: string, commandId: string): Incoming<WatchedType> =>
  ({
    message: message(
      'CommandRefused',
      { tenant, runId: newId('run'), now: 0 },
      { commandId, code: 'CANCELLED', message: 'no' },
    ),
  }) as Incoming<WatchedType>;

describe('requests that wait for messages', () => {
  const key = keys.command('acme', 'c1');
  const look = (watch: ReturnType<Watchers['open']>) => () => watch.get(key, 'CommandRefused')?.data.message;

  it('get what came before they looked and what comes after', async () => {
    const watchers = new Watchers();
    const early = watchers.open([key]);
    watchers.deliver([refusal('acme', 'c1')]);
    expect(await early.until(look(early), 1000)).toBe('no');
    const late = watchers.open([key]);
    const answer = late.until(look(late), 60_000);
    watchers.deliver([refusal('acme', 'c2'), refusal('other', 'c1'), refusal('acme', 'c1')]);
    expect(await answer).toBe('no');
  });

  it('of one key are all woken', async () => {
    const watchers = new Watchers();
    const both = [watchers.open([key]), watchers.open([key])];
    const answers = Promise.all(both.map((watch) => watch.until(look(watch), 60_000)));
    watchers.deliver([refusal('acme', 'c1')]);
    expect(await answers).toEqual(['no', 'no']);
  });

  it('end with their time, with a failure, or with a drain', async () => {
    const watchers = new Watchers();
    const watch = watchers.open([key]);
    expect(await watch.until(look(watch), 1)).toBeUndefined();
    const failing = watch.until(look(watch), 60_000);
    watch.fail(new Error('broker away'));
    await expect(failing).rejects.toThrow('broker away');
    const other = watchers.open([key]);
    const ending = other.until(look(other), 60_000);
    watchers.stop();
    expect(await ending).toBeUndefined();
    const late = watchers.open([key]);
    expect(await late.until(look(late), 60_000)).toBeUndefined();
  });

  it('leave nothing behind once closed', () => {
    const watchers = new Watchers();
    const watches = Array.from({ length: 3 }, () => watchers.open([key, keys.ended('acme', 'r')]));
    expect(watchers.size).toBe(3);
    watches.forEach((watch) => watch.close());
    expect(watchers.size).toBe(0);
  });
});
