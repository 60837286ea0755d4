import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ContainerRuntimeClient, GenericContainer as Container, StartedTestContainer } from 'testcontainers';
import { parse } from 'yaml';
import { freePort } from '../../libs/runtime/src/embedded/embedded-postgres.ts';
import type { PartName, StartedPart, StartOptions } from './part.ts';
import { projectFile } from './project.ts';

const STARTUP_MS = 120_000;

type Testcontainers = typeof import('testcontainers');
type Handle = ReturnType<ContainerRuntimeClient['container']['getById']>;

async function testcontainers(): Promise<Testcontainers> {
  // Its reaper would end a stack that stays; we remove what we start.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  return import('testcontainers');
}

/** Whether a Docker daemon answers. Asks only where there is a sign of one, since loading the client takes a second. */
export async function dockerAnswers(): Promise<boolean> {
  const sockets = [
    '/var/run/docker.sock',
    path.join(os.homedir(), '.docker/run/docker.sock'),
    path.join(process.env.XDG_RUNTIME_DIR ?? '/nowhere', 'docker.sock'),
  ];
  if (!process.env.DOCKER_HOST && !process.env.DOCKER_CONTEXT && !sockets.some((socket) => existsSync(socket)))
    return false;
  try {
    await (await testcontainers()).getContainerRuntimeClient();
    return true;
  } catch {
    return false;
  }
}

/** Starts one part as a container of the image that docker-compose.yml names. */
export async function startContainer(name: PartName, { postgresSettings, say }: StartOptions): Promise<StartedPart> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await testcontainers();
  const client = await getContainerRuntimeClient();
  const { host } = client.info.containerRuntime;
  const plan = await PLANS[name](host, postgresSettings);
  /** Like docker-compose.yml: published at the address that we use, not at all of the machine. */
  class LoopbackContainer extends GenericContainer {
    protected override beforeContainerCreated(): Promise<void> {
      const ports = Object.values(this.hostConfig.PortBindings as Record<string, { HostIp?: string }[]>).flat();
      const address = host === 'localhost' ? '127.0.0.1' : host;
      if (isIP(address)) for (const port of ports) port.HostIp = address;
      return Promise.resolve();
    }
  }
  const image = imageOf(name);
  say(`Starting ${name} from the image ${image}`);
  const container = plan
    .apply(new LoopbackContainer(image))
    // a fixed host port: a restarted container would get another one, and Kafka must advertise it
    .withExposedPorts({ container: plan.containerPort, host: plan.port })
    .withWaitStrategy(plan.log ? Wait.forLogMessage(plan.log) : Wait.forListeningPorts())
    .withStartupTimeout(STARTUP_MS);
  const started = await container.start().catch((cause: unknown) => {
    const remedy = `Get the image (docker pull ${image}), or set STACK_VIA=native to use packages of this machine instead`;
    throw new Error(`Docker could not start ${name} from ${image}: ${String(cause)}. ${remedy}.`, { cause });
  });
  await plan.answers();
  return partOf(started, client.container.getById(started.getId()), plan);
}

/** Removes a container that another process of ours started. */
export async function removeContainer(id: string): Promise<void> {
  const client = await (await testcontainers()).getContainerRuntimeClient();
  await client.container.getById(id).remove({ force: true, v: true }).catch(ignoreMissing);
}

export async function containerRuns(id: string): Promise<boolean> {
  if (!(await dockerAnswers())) return false;
  const client = await (await testcontainers()).getContainerRuntimeClient();
  return client.container
    .getById(id)
    .inspect()
    .then(
      (found) => found.State.Running,
      () => false,
    );
}

interface Plan {
  readonly address: string;
  readonly port: number;
  readonly containerPort: number;
  readonly log?: RegExp;
  apply(container: Container): Container;
  answers(): Promise<void>;
}

type MakePlan = (host: string, postgresSettings: Readonly<Record<string, string>>) => Promise<Plan>;

const PLANS: Readonly<Record<PartName, MakePlan>> = {
  kafka: async (host) => {
    const port = await freePort();
    return {
      address: `${host}:${port}`,
      port,
      containerPort: 9092,
      log: /Kafka Server started/,
      apply: (container) => container.withEnvironment(kafkaEnvironment(host, port)),
      answers: async () => undefined,
    };
  },
  redis: async (host) => {
    const port = await freePort();
    return {
      address: `redis://${host}:${port}`,
      port,
      containerPort: 6379,
      apply: (container) => container.withCommand(['redis-server', '--appendonly', 'yes', '--save', '']),
      answers: async () => undefined,
    };
  },
  postgres: async (host, postgresSettings) => {
    const port = await freePort();
    const password = randomBytes(18).toString('base64url');
    const address = `postgresql://postgres:${password}@${host}:${port}/countersign`;
    const settings = Object.entries({ max_connections: '200', ...postgresSettings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    return {
      address,
      port,
      containerPort: 5432,
      apply: (container) =>
        container
          .withEnvironment({ POSTGRES_PASSWORD: password, POSTGRES_DB: 'countersign' })
          .withCommand(['postgres', ...settings]),
      answers: () => untilPostgresAnswers(address),
    };
  },
};

/** docker-compose.yml's settings of the broker, with the advertised address of this start. */
function kafkaEnvironment(host: string, port: number): Record<string, string> {
  const fromCompose = Object.entries(compose().services.kafka?.environment ?? {}).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return { ...Object.fromEntries(fromCompose), KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${host}:${port}` };
}

async function partOf(started: StartedTestContainer, handle: Handle, plan: Plan): Promise<StartedPart> {
  const { address } = plan;
  let pid = 0;
  const refresh = async (): Promise<void> => {
    pid = (await handle.inspect()).State.Pid;
  };
  await refresh();
  return {
    address,
    get pid() {
      return pid;
    },
    get record() {
      return { kind: 'container' as const, address, id: started.getId(), pid };
    },
    stop: async () => void (await handle.remove({ force: true, v: true }).catch(ignoreMissing)),
    kill: async () => {
      await handle.kill({ signal: 'SIGKILL' });
      await handle.wait();
    },
    restart: async () => {
      await started.restart();
      await plan.answers();
      await refresh();
    },
  };
}

async function untilPostgresAnswers(url: string): Promise<void> {
  for (const until = Date.now() + STARTUP_MS; ; await delay(50)) {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly image?: string; readonly environment?: Readonly<Record<string, unknown>> }>
  >;
}

const compose = (): Compose => parse(readFileSync(projectFile('docker-compose.yml'), 'utf8')) as Compose;

function imageOf(name: PartName): string {
  const image = compose().services[name]?.image;
  if (!image) throw new Error(`docker-compose.yml names no image for ${name}`);
  return image;
}

function ignoreMissing(error: { statusCode?: number }): void {
  if (error.statusCode !== 404) throw error;
}
