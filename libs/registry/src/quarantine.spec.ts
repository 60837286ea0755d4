import { InfrastructureError } from '#kernel';
import { Quarantine, type QuarantinedTool } from '#registry';

describe('the quarantined tools in memory', () => {
  let now: number;
  let reads: number;
  let answer: () => Promise<readonly QuarantinedTool[]>;
  let quarantine: Quarantine;
  beforeEach(() => {
    now = 0;
    reads = 0;
    answer = () => Promise.resolve([{ tenant: 'acme', tool: 'desk.look', version: '' }]);
    const read = <T>(): Promise<T> => {
      reads++;
      return answer() as Promise<T>;
    };
    quarantine = new Quarantine({ read }, () => now);
  });

  it('names a version, or all versions of a tool, of one tenant (G12)', async () => {
    answer = () =>
      Promise.resolve([
        { tenant: 'acme', tool: 'desk.look', version: '' },
        { tenant: 'acme', tool: 'desk.find', version: '1.0.0' },
      ]);
    await quarantine.ready();
    expect(
      ['desk.look@1.0.0', 'desk.look@9.9.9', 'desk.find@1.0.0', 'desk.find@1.0.1', 'desk.looks@1.0.0'].map((tool) =>
        quarantine.has('acme', tool),
      ),
    ).toEqual([true, true, true, false, false]);
    expect(quarantine.has('other', 'desk.look@1.0.0')).toBe(false);
  });

  it('many calls cost one question, and none while the list is young', async () => {
    await Promise.all(Array.from({ length: 50 }, async () => quarantine.ready()));
    now = 9_000;
    expect(quarantine.ready()).toBeUndefined();
    expect(reads).toBe(1);
  });

  it('G13 an old list is not believed: without the registry nothing goes on, and with it all does', async () => {
    await quarantine.ready();
    now = 11_000;
    answer = () => Promise.reject(new InfrastructureError('away'));
    await expect(quarantine.ready()).rejects.toThrow('away');
    answer = () => Promise.resolve([]);
    await quarantine.ready();
    expect(quarantine.has('acme', 'desk.look@1.0.0')).toBe(false);
  });

  it('Q3 renewed, it is a list that was asked for afterwards, also while another is being read', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly QuarantinedTool[]>();
    answer = () => promise;
    const first = quarantine.ready();
    const renewed = quarantine.renew();
    answer = () => Promise.resolve([]);
    resolve([{ tenant: 'acme', tool: 'desk.look', version: '' }]);
    await first;
    expect(quarantine.has('acme', 'desk.look@1.0.0')).toBe(true);
    await renewed;
    expect(quarantine.has('acme', 'desk.look@1.0.0')).toBe(false);
    expect(reads).toBe(2);
  });
});
