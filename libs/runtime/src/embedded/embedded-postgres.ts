import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { CountersignError } from '#kernel';
import { alive, claimDirectory, releaseDirectory } from './directory-owner.ts';
import { makeFolder } from './make-folder.ts';
import { postgresBinaries, reachableByOthers } from './postgres-binaries.ts';

/**
 * A real PostgreSQL of our own on loopback, its data kept between starts.
 * E1 one living process of ours per data directory (`owner.json`); a second start says so at once.
 * E2 an orphan postmaster (its owner was killed) is stopped before the new one starts.
 * E3 it is reached over a Unix socket in its directory, which costs a sixth less CPU a call than loopback; over loopback by
 *    clients that know only a host and a port, and where the path is too long for a socket.
 * E4 it runs in a process group of its own and is stopped by `stop`, after the services drained.
 */
export interface EmbeddedPostgres {
  readonly pid: number;
  readonly port: number;
  /** Where the data is: the one asked for, or the one that the server's account can reach. */
  readonly directory: string;
  /** Names loopback, and the socket in `?host=`: drivers and psql prefer it. */
  url(database: string): string;
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Created if missing. */
  readonly directory: string;
  /** A free one if not given. */
  readonly port?: number;
  /** Extra `-c name=value` settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;
const RETAKE_ATTEMPTS = 50;
const RETAKE_MS = 100;
/** Of a socket's whole path, with the name that PostgreSQL gives it. */
const SOCKET_PATH_BYTES = 100;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const account = process.getuid?.() === 0 ? serverAccount() : undefined;
  const directory = usableDirectory(path.resolve(options.directory), account);
  const data = path.join(directory, 'data');
  claimDirectory(directory);
  try {
    if (account) chownSync(directory, account.uid, account.gid);
    const native = postgresBinaries(account !== undefined);
    const run = new Runner(native, account, path.join(directory, 'postgres.log'));
    await stopOrphan(data);
    const password = await initialize(run, directory, data);
    const port = options.port ?? (await freePort());
    const socket = Buffer.byteLength(path.join(directory, `.s.PGSQL.${port}`)) <= SOCKET_PATH_BYTES;
    const args = [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries({
        listen_addresses: '127.0.0.1',
        unix_socket_directories: socket ? directory : '',
        max_connections: '200',
        ...options.settings,
      }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ];
    const url = (database: string): string =>
      `postgresql://postgres:${password}@127.0.0.1:${port}/${database}${socket ? `?host=${encodeURIComponent(directory)}` : ''}`;
    const child = await startServer(run, args, url('postgres'));
    child.unref(); // our process may end by itself; `stop` ends the server
    return { pid: child.pid!, port, directory, url, stop: () => stop(child, directory) };
  } catch (error) {
    releaseDirectory(directory);
    throw error;
  }
}

/** After a kill of the server alone its sessions hold the shared memory for a moment longer. */
async function startServer(run: Runner, args: readonly string[], url: string): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    const before = run.logBytes();
    const child = run.start('postgres', args);
    try {
      await untilReady(child, url, run.logFile);
      return child;
    } catch (error) {
      const held = run.logAfter(before).includes('pre-existing shared memory block');
      if (!held || attempt === RETAKE_ATTEMPTS) throw error;
      await delay(RETAKE_MS);
    }
  }
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: `postgres` if there is such a user, else `nobody`. */
function serverAccount(): Account {
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = rows.find((r) => r[0] === 'postgres') ?? rows.find((r) => r[0] === 'nobody');
  if (!found)
    throw new CountersignError(
      'INVALID_ARGS',
      'PostgreSQL cannot run as root and there is neither a user "postgres" nor "nobody"; start as another user.',
    );
  return { name: found[0]!, uid: Number(found[2]), gid: Number(found[3]) };
}

/** As root the server runs as another user, who must be able to walk there; else the data goes where that holds, and we say so. */
function usableDirectory(wanted: string, account: Account | undefined): string {
  makeFolder(wanted);
  if (!account || reachableByOthers(wanted)) return wanted;
  const elsewhere = path.join(
    '/var/tmp',
    `countersign-${createHash('sha256').update(wanted).digest('hex').slice(0, 16)}`,
  );
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  process.stderr.write(
    `The database runs as the user ${account.name}, who cannot walk into ${wanted}: its data is kept in ${elsewhere} instead.\n`,
  );
  return elsewhere;
}

class Runner {
  readonly native: string;
  readonly account: Account | undefined;
  readonly logFile: string;
  constructor(native: string, account: Account | undefined, logFile: string) {
    this.native = native;
    this.account = account;
    this.logFile = logFile;
  }

  start(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(this.logFile, 'a');
    const child = spawn(path.join(this.native, 'bin', program), args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
      env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' },
      ...(this.account ? { uid: this.account.uid, gid: this.account.gid } : {}),
    });
    closeSync(log);
    return child;
  }

  logBytes(): number {
    return statSync(this.logFile, { throwIfNoEntry: false })?.size ?? 0;
  }

  logAfter(bytes: number): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile).subarray(bytes).toString('utf8') : '';
  }

  async run(program: string, args: readonly string[]): Promise<void> {
    const child = this.start(program, args);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    if (code !== 0) throw new CountersignError('INTERNAL', `${program} failed (${code}): ${lastLines(this.logFile)}`);
  }
}

const lastLines = (file: string): string =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-6).join(' | ') : '';

async function initialize(run: Runner, directory: string, data: string): Promise<string> {
  const passwordFile = path.join(directory, 'password');
  if (existsSync(path.join(data, 'PG_VERSION')) && existsSync(passwordFile))
    return readFileSync(passwordFile, 'utf8').trim();
  rmSync(data, { recursive: true, force: true }); // an initdb that was killed half way
  const password = randomBytes(18).toString('base64url');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (run.account) chownSync(passwordFile, run.account.uid, run.account.gid);
  await run.run('initdb', [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    '--pwfile',
    passwordFile,
    '-E',
    'UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  return password;
}

async function untilReady(child: ChildProcess, url: string, logFile: string): Promise<void> {
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended = `exit ${code ?? signal}`));
  for (const until = Date.now() + START_TIMEOUT_MS; ;) {
    if (ended !== undefined)
      throw new CountersignError('INTERNAL', `PostgreSQL did not start (${ended}): ${lastLines(logFile)}`);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return;
    } catch (error) {
      if (Date.now() > until)
        throw new CountersignError(
          'INTERNAL',
          `PostgreSQL is not ready after ${START_TIMEOUT_MS} ms: ${lastLines(logFile)}`,
          { cause: error },
        );
      await delay(25);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

async function stop(child: ChildProcess, directory: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.ref();
    child.kill('SIGINT'); // fast shutdown: open sessions are cut, everything committed stays
    await Promise.all([gone(child.pid!), exited]);
  }
  releaseDirectory(directory);
}

/** A postmaster whose owner is dead still holds the data directory. */
async function stopOrphan(data: string): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !alive(pid) || !isPostgres(pid)) return;
  process.kill(pid, 'SIGINT');
  await gone(pid);
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]!.endsWith('postgres');
  } catch {
    return process.platform !== 'linux'; // no /proc: postmaster.pid is all there is
  }
}

async function gone(pid: number): Promise<void> {
  const until = Date.now() + STOP_TIMEOUT_MS;
  let quick = false;
  while (alive(pid)) {
    if (Date.now() > until && !quick) {
      quick = true;
      process.kill(pid, 'SIGQUIT'); // immediate: recovery at the next start
    }
    await delay(20);
  }
}

export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
