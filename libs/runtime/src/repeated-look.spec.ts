import { RepeatedLook, type Log } from '#runtime';
import { until } from '../testing/service-harness.ts';

describe('a repeated look', () => {
  const told: string[] = [];
  const log = { warn: (_fields: object, text: string) => void told.push(text) } as unknown as Log;
  const options = { everyMs: 1, atOnce: true, log, failed: 'it failed' };

  it('never looks twice at once, tells what fails, tries again, and ends with the look that is under way', async () => {
    let [running, most, looks] = [0, 0, 0];
    const look = new RepeatedLook({
      ...options,
      look: async ({ stopped }) => {
        expect(stopped).toBe(false);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (++looks === 2) throw new Error('away');
      },
    });
    look.start();
    await until(() => looks >= 4);
    await look.drain();
    const ended = looks;
    expect([most, running, told, look.stopped]).toEqual([1, 0, ['it failed'], true]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(looks).toBe(ended);
  });

  it('what is asked for while it looks is that look', async () => {
    let looks = 0;
    const look = new RepeatedLook({ ...options, look: () => Promise.resolve(++looks) });
    await Promise.all([look.now(), look.now()]);
    expect(looks).toBe(1);
  });
});
