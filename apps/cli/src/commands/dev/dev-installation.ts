import net from 'node:net';
import path from 'node:path';
import type { Environment } from '#runtime';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import type { ProcessCommand, RunningServices } from '../../supervisor/start-services.ts';

export interface DevInstallationOptions {
  readonly folder: string;
  /** Of the HTTP API; 0 = any free one. */
  readonly port: number;
  readonly dataDir: string;
  readonly env: Environment;
  readonly onRestart: () => void;
  /** Arguments of Node for the services; the built ones if not given. */
  readonly command?: ProcessCommand;
}

/** Where everything of a `dev` is; the database stays while the services come and go. */
export interface DevInstallation {
  readonly url: string;
  readonly databaseUrl: string;
  readonly logFile: string;
  start(): Promise<RunningServices>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Of a stack that the shell may be set up for: `dev` is all in one process. */
const NOT_OURS = ['COUNTERSIGN_KAFKA_BROKERS', 'COUNTERSIGN_REDIS_URL'];

export async function openDevInstallation(options: DevInstallationOptions): Promise<DevInstallation> {
  const { freePort, makeFolder, startEmbeddedPostgres } = await import('#runtime');
  const { startServices } = await import('../../supervisor/start-services.ts');
  const port = options.port === 0 ? await freePort() : options.port;
  await checkPort(port);
  const dataDir = path.resolve(options.dataDir);
  makeFolder(dataDir);
  const given = options.env.COUNTERSIGN_DATABASE_URL;
  const postgres = given ? null : await startEmbeddedPostgres({ directory: path.join(dataDir, 'postgres') });
  const databaseUrl = given ?? postgres!.url('postgres');
  const env: Environment = {
    COUNTERSIGN_LOG_LEVEL: 'info',
    ...Object.fromEntries(Object.entries(options.env).filter(([name]) => !NOT_OURS.includes(name))),
    COUNTERSIGN_DEV: '1',
    COUNTERSIGN_HTTP_HOST: HOST,
    COUNTERSIGN_HTTP_PORT: String(port),
    COUNTERSIGN_DATABASE_URL: databaseUrl,
    COUNTERSIGN_WORKSPACES: path.resolve(options.folder),
  };
  const logDirectory = path.join(dataDir, 'logs');
  return {
    url: `http://${HOST}:${port}`,
    databaseUrl,
    logFile: path.join(logDirectory, 'all-in-one.log'),
    start: () =>
      startServices({
        names: ['all-in-one'],
        env,
        logDirectory,
        onEvent: ({ type }) => (type === 'restarting' ? options.onRestart() : undefined),
        ...(options.command ? { command: options.command } : {}),
      }),
    close: () => postgres?.stop() ?? Promise.resolve(),
  };
}

/** Told before anything is started. */
async function checkPort(port: number): Promise<void> {
  const server = net.createServer();
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve);
    server.listen(port, HOST, () => server.close(() => resolve(null)));
  });
  if (error?.code === 'EADDRINUSE')
    throw usageFailure(`--port: ${port} is in use by another process; stop it, or choose another (0 = any free one)`);
  if (error) throw new CommandFailure(EXIT.usage, `--port: ${port} cannot be used (${error.code}); choose another`);
}
