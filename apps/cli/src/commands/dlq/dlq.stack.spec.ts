import path from 'node:path';
import { verifyOverHttp } from '#audit';
import { createBus } from '#bus';
import { allTopics, TOPICS } from '#contracts';
import { newId } from '#kernel';
import { Database } from '#persistence';
import { openStackSystem } from '../../../../../test/e2e/open-stack.ts';
import { ask, ownFaults, type System } from '../../../../../test/e2e/system.ts';
import { startWorld, type World } from '../../../../../test/e2e/world.ts';
import { until } from '../../../../../libs/runtime/testing/service-harness.ts';
import { runCli, type CliAnswer } from '../../../testing/run-cli.ts';

interface Listed {
  readonly id: string;
  readonly type: string;
  readonly topic: string;
  readonly code: string;
  readonly cause: string;
}
interface Shown extends Listed {
  readonly key: { readonly text: string };
  readonly value: { readonly text?: string; readonly base64?: string };
  readonly handlerAttempts: number;
}

/** Five deliveries with growing pauses come before a dead letter. */
const PATIENCE_MS = 150_000;

/** The real command, on the Kafka of seven running services. */
describe('dead letters on Kafka by the command line (B4)', () => {
  let world: World;
  let system: System;
  let database: Database;
  const dlq = (...args: string[]): Promise<CliAnswer> =>
    runCli(['dlq', ...args], { COUNTERSIGN_KAFKA_BROKERS: process.env.TEST_KAFKA_BROKERS! });
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await dlq(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  };
  const open = async (group: string): Promise<Shown[]> => {
    const { items } = await json<{ items: Listed[] }>('list', '--group', group, '--limit', '10000');
    return Promise.all(items.map(({ id }) => json<Shown>('show', id)));
  };

  beforeAll(async () => {
    world = await startWorld(path.join(import.meta.dirname, '../../../../../dist/examples'));
    system = await openStackSystem(world);
    database = new Database({ url: system.databaseUrl, schema: 'telemetry', max: 1 });
  }, 180_000);
  afterAll(async () => {
    await database?.close();
    await system?.close();
    await world?.close();
  }, 60_000);

  it('what a broken service could not take waits with its bytes and its cause; mended and sent again, it is handled, and no effect is repeated (G4, G5, G11)', async () => {
    const taskId = newId('cmd');
    await database.change({ text: 'alter table audit_record rename to audit_record_away' });
    const call = { tool: 'probe.write_item', arguments: { item: taskId }, taskId };
    const answer = await ask<{ callId: string }>(system, 'alice', 'POST', '/v1/calls', call, { prefer: 'wait=30' });
    expect(answer.status).toBe(200);
    const runId = `run_${answer.body.callId.slice(5, 31)}`;
    let letters: Shown[] = [];
    const types = (): string[] => letters.map(({ type }) => type).sort();
    const expected = ['CallAllowed', 'CallSettled', 'RunEnded', 'RunStarted'];
    await until(async () => {
      letters = (await open('telemetry')).filter(({ value }) => value.text?.includes(runId));
      return types().length >= expected.length;
    }, PATIENCE_MS).catch(() => undefined);
    expect(types()).toEqual(expected);
    for (const { code, cause, handlerAttempts, key, value } of letters) {
      expect({ code, cause, handlerAttempts }).toEqual({
        code: 'INTERNAL',
        cause: expect.stringContaining('"audit_record" does not exist') as string,
        handlerAttempts: 5,
      });
      expect(JSON.parse(value.text!)).toMatchObject({ tenant: 'dev', runId });
      expect([runId, answer.body.callId]).toContain(key.text);
    }
    expect(
      (await dlq('list', '--group', 'telemetry')).stdout.split('\n').filter((line) => line.includes('RunEnded')),
    ).not.toEqual([]);

    await database.change({ text: 'alter table audit_record_away rename to audit_record' });
    const ids = letters.map(({ id }) => id);
    expect((await dlq('replay', ids[0]!)).code).toBe(2);
    const replayed = await json<{ items: { id: string; replayed: boolean }[] }>('replay', ...ids, '--yes');
    expect(replayed.items.map(({ id, replayed }) => [id, replayed])).toEqual(ids.map((id) => [id, true]));
    await until(async () => {
      const { body } = await ask<{ items: unknown[] }>(system, 'ann', 'GET', `/v1/audit?runId=${runId}`);
      return body.items.length === letters.length;
    });
    const report = await verifyOverHttp({
      baseUrl: system.gateway,
      token: 'dev.dev.ann.auditor',
      runIds: [runId],
      settleMs: 20_000,
    });
    expect(ownFaults(report)).toEqual([]);

    const again = await json<{ items: { replayed: boolean }[] }>('replay', ...ids, '--yes');
    expect(again.items.map(({ replayed }) => replayed)).toEqual(ids.map(() => false));
    expect((await open('telemetry')).filter(({ value }) => value.text?.includes(runId))).toEqual([]);
    expect(world.sink.state().byItem[taskId]).toMatchObject({ attempts: 1, applied: 1 });
  }, 240_000);

  it('what is no message at all is kept byte for byte, at once, and the partition goes on', async () => {
    const runId = newId('run');
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00, 0xfe]), Buffer.from(runId)]);
    const bus = await createBus({
      kind: 'kafka',
      brokers: process.env.TEST_KAFKA_BROKERS!.split(','),
      clientId: 'poison',
      topics: allTopics(['default']),
      onFatal: (error) => {
        throw error;
      },
    });
    await bus.start();
    await bus.publish([{ topic: TOPICS.runCommands, key: runId, partitionKey: runId.slice(4), value: bytes }]);
    await bus.drain();
    await bus.close();
    const letter = await until(async () => (await open('orchestrator')).find(({ key }) => key.text === runId));
    expect(letter).toMatchObject({
      topic: 'run.commands',
      code: 'INVALID_JSON',
      value: { base64: bytes.toString('base64') },
      handlerAttempts: 0,
    });
    expect((await dlq('show', letter.id)).stdout).toContain('Bytes (base64: they are not UTF-8)');
    const call = { tool: 'probe.write_item', arguments: { item: runId }, taskId: newId('cmd') };
    expect((await ask(system, 'alice', 'POST', '/v1/calls', call, { prefer: 'wait=30' })).body).toMatchObject({
      ok: true,
    });
  }, 120_000);
});
