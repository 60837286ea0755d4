import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { openStack, type Stack } from './stack.ts';
import { sweepOrphans } from './state.ts';

const STACK_MODULE = pathToFileURL(path.join(import.meta.dirname, 'stack.ts')).href;
const silent = { say: () => undefined };

/** One round trip that only a Redis answers; rejects when nothing listens. */
async function ping(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: hostname, port: Number(port) }, () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().trim());
    });
    socket.once('error', reject);
  });
}

describe('the stack of this test run', () => {
  it('answers at the addresses that the suites are given', async () => {
    expect(await ping(process.env.TEST_REDIS_URL!)).toBe('+PONG');
    const client = new pg.Client(process.env.TEST_DATABASE_URL);
    await client.connect();
    const { rows } = await client.query("select current_setting('server_version_num')::int >= 180000 as new");
    await client.end();
    expect(rows).toEqual([{ new: true }]);
    expect(process.env.TEST_KAFKA_BROKERS).toMatch(/^[\w.-]+:\d+(,[\w.-]+:\d+)*$/);
  });
});

describe('an opened stack', () => {
  const before = { ...process.env };
  let stack: Stack | undefined;

  beforeEach(() => {
    process.env.COUNTERSIGN_KAFKA_BROKERS = process.env.TEST_KAFKA_BROKERS!;
    process.env.COUNTERSIGN_DATABASE_URL = process.env.TEST_DATABASE_URL!;
    process.env.COUNTERSIGN_REDIS_URL = process.env.TEST_REDIS_URL!;
  });
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
    for (const name of ['COUNTERSIGN_KAFKA_BROKERS', 'COUNTERSIGN_DATABASE_URL', 'COUNTERSIGN_REDIS_URL']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });

  it('uses the parts that the environment names, and leaves them running', async () => {
    stack = await openStack(silent);
    expect(stack).toMatchObject({
      startedHere: false,
      kafkaBrokers: process.env.TEST_KAFKA_BROKERS,
      redisUrl: process.env.TEST_REDIS_URL,
      databaseUrl: process.env.TEST_DATABASE_URL,
    });
    await stack.close();
    expect(await ping(stack.redisUrl)).toBe('+PONG');
  });

  it('starts only the parts that nobody named, and ends them on close', async () => {
    delete process.env.COUNTERSIGN_REDIS_URL;
    stack = await openStack({ ...silent, reuse: false });
    expect(stack).toMatchObject({ startedHere: true, kafkaBrokers: process.env.TEST_KAFKA_BROKERS });
    expect(stack.redisUrl).not.toBe(process.env.TEST_REDIS_URL);
    expect(await ping(stack.redisUrl)).toBe('+PONG');
    await stack.close();
    await expect(ping(stack.redisUrl)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    expect(await ping(process.env.TEST_REDIS_URL!)).toBe('+PONG');
  });

  it('a part comes back at the same address after a kill and a restart', async () => {
    delete process.env.COUNTERSIGN_REDIS_URL;
    stack = await openStack({ ...silent, reuse: false });
    const { redis } = stack.parts;
    const firstPid = redis.pid;
    await redis.kill!();
    await expect(ping(stack.redisUrl)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    await redis.restart!();
    expect(await ping(stack.redisUrl)).toBe('+PONG');
    expect(redis.pid).not.toBe(firstPid);
  });

  it('what a killed opener left is ended by the next one', async () => {
    delete process.env.COUNTERSIGN_REDIS_URL;
    const script = `
      const { openStack } = await import(${JSON.stringify(STACK_MODULE)});
      const { redisUrl } = await openStack({ reuse: false, say: () => undefined });
      process.stdout.write(redisUrl);
      setInterval(() => undefined, 1000);`;
    const args = ['--conditions=development', '--no-warnings', '--input-type=module', '-e', script];
    const opener = spawn(process.execPath, args, { env: { ...process.env }, stdio: ['ignore', 'pipe', 'inherit'] });
    const [redisUrl] = (await once(opener.stdout.setEncoding('utf8'), 'data')) as [string];
    expect(await ping(redisUrl)).toBe('+PONG');
    opener.kill('SIGKILL');
    await once(opener, 'exit');
    await sweepOrphans();
    await expect(ping(redisUrl)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  });
});
