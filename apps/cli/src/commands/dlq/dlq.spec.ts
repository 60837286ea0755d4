import { BUS_SCHEMA, PostgresDeadLetters } from '#bus';
import { encodeMessage, message, TOPICS } from '#contracts';
import { newId } from '#kernel';
import { Database } from '#persistence';
import { openEmbedded } from '../../../../../test/e2e/open-embedded.ts';
import type { System } from '../../../../../test/e2e/system.ts';
import { startWorld, type World } from '../../../../../test/e2e/world.ts';
import { until } from '../../../../../libs/runtime/testing/service-harness.ts';
import { runCli, type CliAnswer } from '../../../testing/run-cli.ts';

const runId = newId('run');
const lost = message(
  'CancelRun',
  { tenant: 'dev', runId, now: Date.now() },
  { commandId: 'cmd_1', principal: { id: 'user:alice', kind: 'user', roles: ['agent'] } },
);

/** The real command on the database of a real installation whose bus is in process. */
describe('dead letters by the command line (B4)', () => {
  let world: World;
  let system: System;
  let database: Database;
  let letters: PostgresDeadLetters;
  const dlq = (...args: string[]): Promise<CliAnswer> =>
    runCli(['dlq', ...args], { COUNTERSIGN_DATABASE_URL: system.databaseUrl });

  beforeAll(async () => {
    world = await startWorld();
    system = await openEmbedded(world);
    database = new Database({ url: system.databaseUrl, schema: BUS_SCHEMA, max: 1 });
    letters = new PostgresDeadLetters(database);
  });
  afterAll(async () => {
    await database.close();
    await system.close();
    await world.close();
  });

  it('are listed, shown, and sent again byte for byte by the running installation, once', async () => {
    await letters.put({
      group: 'by-hand',
      topic: TOPICS.runCommands,
      partition: 0,
      offset: '1',
      key: Buffer.from(runId),
      value: encodeMessage(lost),
      headers: {},
      handlerAttempts: 1,
      code: 'INTERNAL',
      cause: 'Error: no',
    });
    const listed = await dlq('list', '--group', 'by-hand', '--json');
    const { items } = JSON.parse(listed.stdout) as { items: { id: string; type: string }[] };
    expect(items).toEqual([expect.objectContaining({ topic: 'run.commands', code: 'INTERNAL', type: 'CancelRun' })]);
    const { id } = items[0]!;
    expect((await dlq('show', id)).stdout).toContain(`Bytes\n${encodeMessage(lost).toString()}\n`);

    const unasked = await dlq('replay', id);
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('give --yes')]);
    const replayed = await dlq('replay', id, '--yes');
    expect([replayed.code, replayed.stdout]).toEqual([0, `${id}: sent again to run.commands\n`]);
    const again = await until(() => system.seen.find(({ message: { id: seen } }) => seen === lost.id));
    expect(again).toEqual({ topic: TOPICS.runCommands, message: lost });

    expect((await dlq('replay', id, '--yes')).stdout).toBe(`${id}: was sent again before\n`);
    expect((await dlq('list', '--group', 'by-hand')).stdout).toBe('no dead letters\n');
    const missing = await dlq('show', '999999');
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('there is no dead letter 999999')]);
  });
});
