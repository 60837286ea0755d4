import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

const OWNER = `
  const { startEmbeddedPostgres } = await import(process.argv[1]);
  const server = await startEmbeddedPostgres({ directory: process.argv[2] });
  const { default: pg } = await import('pg');
  const client = new pg.Client(server.url('postgres'));
  await client.connect();
  await client.query('create table kept (n int); insert into kept values (42)');
  process.stdout.write(String(server.pid) + '\\n');
  setInterval(() => undefined, 1000);
`;

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function reachedOver(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ via: string }>(`select coalesce(host(inet_server_addr()), 'socket') as via`);
    return rows[0]!.via;
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'countersign-embedded-'));
    chmodSync(directory, 0o755);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('a second start on the same data directory says so at once and names the owner and the remedy (E1)', async () => {
    const first = await startEmbeddedPostgres({ directory });
    try {
      await expect(startEmbeddedPostgres({ directory })).rejects.toThrow(
        new RegExp(`in use by process ${process.pid}.*COUNTERSIGN_DATA_DIR`),
      );
    } finally {
      await first.stop();
    }
    expect(alive(first.pid)).toBe(false);
  });

  it('is reached over its socket, over loopback without it, and by loopback alone where the path is too long (E3)', async () => {
    const deep = path.join(directory, 'd'.repeat(90));
    const [short, long] = await Promise.all([
      startEmbeddedPostgres({ directory: path.join(directory, 'short') }),
      startEmbeddedPostgres({ directory: deep }),
    ]);
    try {
      const plain = new URL(short.url('postgres'));
      plain.searchParams.delete('host');
      expect(await reachedOver(short.url('postgres'))).toBe('socket');
      expect(await reachedOver(plain.href)).toBe('127.0.0.1');
      expect(await reachedOver(long.url('postgres'))).toBe('127.0.0.1');
    } finally {
      await Promise.all([short.stop(), long.stop()]);
    }
  });

  it('starts again at once after a kill of the server alone, though its sessions are not gone yet (E2)', async () => {
    let server = await startEmbeddedPostgres({ directory });
    for (let round = 0; round < 3; round++) {
      const clients = Array.from({ length: 20 }, () => new pg.Client(server.url('postgres')));
      for (const client of clients) client.on('error', () => undefined);
      await Promise.all(clients.map((client) => client.connect()));
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
      server = await startEmbeddedPostgres({ directory });
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
      expect(await reachedOver(server.url('postgres'))).toBe('socket');
    }
    await server.stop();
  });

  it('started by root below a folder of root alone, it keeps its data where its account can walk', async () => {
    chmodSync(directory, 0o700);
    const wanted = path.join(directory, 'data');
    const server = await startEmbeddedPostgres({ directory: wanted });
    try {
      if (process.getuid?.() === 0) expect(server.directory).toMatch(/^\/var\/tmp\/countersign-[0-9a-f]{16}$/);
      else expect(server.directory).toBe(wanted);
      const client = new pg.Client(server.url('postgres'));
      await client.connect();
      expect((await client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
      await client.end();
    } finally {
      await server.stop();
      rmSync(server.directory, { recursive: true, force: true });
    }
  });

  it('a data folder that cannot be made is named at once', async () => {
    await expect(startEmbeddedPostgres({ directory: '/proc/nope/data' })).rejects.toThrow(
      /\/proc\/nope.*cannot be made/,
    );
  });

  it('an orphan whose owner was killed is stopped, and what was committed is there (E2, G4)', async () => {
    const module = path.join(import.meta.dirname, 'embedded-postgres.ts');
    const owner = spawn(
      process.execPath,
      ['--conditions=development', '--no-warnings', '--input-type=module', '-e', OWNER, module, directory],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const orphan = Number(
      await new Promise<string>((resolve) => owner.stdout.once('data', (data: Buffer) => resolve(data.toString()))),
    );
    const gone = new Promise((resolve) => owner.once('exit', resolve));
    owner.kill('SIGKILL');
    await gone;
    expect(alive(orphan)).toBe(true);

    const next = await startEmbeddedPostgres({ directory });
    try {
      expect(next.pid).not.toBe(orphan);
      const client = new pg.Client(next.url('postgres'));
      await client.connect();
      expect((await client.query('select n from kept')).rows).toEqual([{ n: 42 }]);
      await client.end();
    } finally {
      await next.stop();
    }
  });
});
