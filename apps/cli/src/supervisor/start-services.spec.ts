import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ServiceEvent } from './service-process.ts';
import { type RunningServices, startServices, type StartServicesOptions } from './start-services.ts';

/** A service with the health endpoints alone; argument 1 says how it behaves. */
const FAKE = `
import http from 'node:http';
const how = process.argv[2];
if (how === 'dies') { console.error('Bad configuration: no database'); process.exit(3); }
if (how === 'stubborn') process.on('SIGTERM', () => undefined);
else process.on('SIGTERM', () => { console.log('drained'); process.exit(0); });
http.createServer((request, response) => {
  response.writeHead(request.url === '/readyz' ? 200 : 404, { connection: 'close' });
  response.end(JSON.stringify({ policy: process.env.COUNTERSIGN_POLICY_URL, token: process.env.COUNTERSIGN_INTERNAL_TOKEN, extra: process.env.EXTRA }));
}).listen(Number(process.env.COUNTERSIGN_INTERNAL_PORT), process.env.COUNTERSIGN_INTERNAL_HOST);
`;

describe('services as processes', () => {
  let directory: string;
  let running: RunningServices | undefined;
  let events: ServiceEvent[];
  let waiting: { wanted: (event: ServiceEvent) => boolean; resolve: (event: ServiceEvent) => void }[];

  beforeEach(() => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-services-'));
    writeFileSync(path.join(directory, 'fake.mjs'), FAKE);
    events = [];
    waiting = [];
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    rmSync(directory, { recursive: true, force: true });
  });

  const onEvent = (event: ServiceEvent): void => {
    events.push(event);
    for (const waiter of waiting) if (waiter.wanted(event)) waiter.resolve(event);
  };
  const nextEvent = (wanted: (event: ServiceEvent) => boolean): Promise<ServiceEvent> =>
    new Promise((resolve) => waiting.push({ wanted, resolve }));
  const start = async (how: string, more: Partial<StartServicesOptions> = {}): Promise<RunningServices> => {
    const command = (): string[] => [path.join(directory, 'fake.mjs'), how];
    running = await startServices({
      names: ['policy', 'state-store'],
      env: process.env,
      logDirectory: path.join(directory, 'logs'),
      onEvent,
      command,
      ...more,
    });
    return running;
  };
  const gone = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };

  it('each run alone, know the addresses of all and one shared token, and are ready when start resolves', async () => {
    const services = await start('well', { envFor: (name) => ({ EXTRA: `for ${name}` }) });
    const [policy, stateStore] = services.list();
    expect(new Set(services.list().map(({ pid }) => pid)).size).toBe(2);
    const seen = (await (await fetch(`${stateStore!.url}/`)).json()) as Record<string, string>;
    expect(seen).toEqual({ policy: policy!.url, token: expect.stringMatching(/^.{32}$/), extra: 'for state-store' });
    expect(
      events
        .filter(({ type }) => type === 'ready')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['policy', 'state-store']);
  });

  it('a killed service is started again at the same address (G4)', async () => {
    const services = await start('well');
    const before = services.list()[0]!;
    const readyAgain = nextEvent(({ type, name }) => type === 'ready' && name === 'policy');
    process.kill(before.pid!, 'SIGKILL');
    await readyAgain;
    const after = services.list()[0]!;
    expect(after).toEqual({ name: 'policy', url: before.url, pid: expect.any(Number) });
    expect(after.pid).not.toBe(before.pid);
    expect((await fetch(`${after.url}/readyz`)).status).toBe(200);
    expect(events).toContainEqual({ type: 'exited', name: 'policy', pid: before.pid, code: null, signal: 'SIGKILL' });
  });

  it('end by SIGTERM, and are not started again', async () => {
    const services = await start('well');
    const pids = services.list().map(({ pid }) => pid!);
    await services.stop();
    expect(pids.every(gone)).toBe(true);
    expect(events.filter(({ type }) => type === 'exited')).toEqual(
      pids.map(() => expect.objectContaining({ code: 0, signal: null })),
    );
    expect(events.some(({ type }) => type === 'restarting')).toBe(false);
  });

  it('that do not drain in time are killed', async () => {
    const services = await start('stubborn', { stopGraceMs: 50 });
    await services.stop();
    expect(events.filter(({ type }) => type === 'exited')).toEqual(
      [1, 2].map(() => expect.objectContaining({ signal: 'SIGKILL' })),
    );
  });

  it('one that cannot start fails the whole start with the reason from its log, and leaves nothing running (G13)', async () => {
    await expect(start('dies')).rejects.toThrow(
      /The service (policy|state-store) ended before it was ready \(3\): Bad configuration: no database/,
    );
    for (const event of events) if (event.type === 'started') expect(gone(event.pid)).toBe(true);
  });
});
