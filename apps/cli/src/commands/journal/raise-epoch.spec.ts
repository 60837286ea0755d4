import { freshDatabase } from '../../../../../libs/persistence/testing/fresh-database.ts';
import { openService } from '../../../../../libs/runtime/testing/service-harness.ts';
import { executorDoor } from '../../../../executor/src/executor.module.ts';
import { runCli, type CliAnswer } from '../../../testing/run-cli.ts';

const raise = (...args: string[]): Promise<CliAnswer> => runCli(['journal', 'raise-epoch', ...args]);

describe('countersign journal raise-epoch (G4, J14)', () => {
  it('raises the epoch of the journal once for each time, and says what to start policy with', async () => {
    const executor = await openService(executorDoor);
    const first = await raise('--database-url', executor.url);
    expect(first.code).toBe(0);
    expect(first.stdout).toContain('COUNTERSIGN_JOURNAL_EPOCH=2');
    const second = await raise('--database-url', executor.url, '--json');
    expect(JSON.parse(second.stdout)).toEqual({ journalEpoch: 3 });
    expect(await executor.database.query({ text: 'select epoch from journal' })).toEqual([{ epoch: 3 }]);
    await executor.close();
  }, 60_000);

  it.each([
    ['no address', [], '--database-url'],
    ['what is no address', ['--database-url', 'localhost'], 'postgresql://'],
    ['nobody there', ['--database-url', 'postgresql://127.0.0.1:1/x'], 'does not answer'],
  ])(
    '%s: says what is wrong, and changes nothing',
    async (_, args, text) => {
      const { code, stderr } = await raise(...args);
      expect(code).not.toBe(0);
      expect(stderr).toContain(text);
    },
    60_000,
  );

  it('a database without a journal is named as such', async () => {
    const fresh = await freshDatabase();
    const { code, stderr } = await raise('--database-url', fresh.url);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('holds no journal')]);
    await fresh.drop();
  }, 60_000);
});
