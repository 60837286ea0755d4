import 'reflect-metadata';
import { Controller, Get, Inject, Res, type DynamicModule, type LoggerService, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Bus } from '#bus';
import type { ServiceName, ServiceParts } from '../door.ts';
import { portFault } from '../http/internal-server.ts';
import type { PlatformSettings } from '../platform.settings.ts';
import { BusStrategy } from './bus-strategy.ts';

/** One service as a Nest application: a microservice on the bus, and an HTTP front if it has controllers. */
export interface NestDoor {
  /** Answers the base URL of the HTTP front, or null when there is none. */
  listen(): Promise<string | null>;
  close(): Promise<void>;
}

export interface NestOptions {
  readonly bus: Bus;
  readonly settings: PlatformSettings;
  readonly notReady: () => readonly string[];
}

const READINESS = Symbol('READINESS');
class ServiceModule {}

/** Nest's own chatter is left out. What it logs as an error when it starts, it throws too: told once, by run-services. */
const quiet: LoggerService = {
  log: () => undefined,
  error: (...text: unknown[]) => {
    if (!['NestApplication', 'ExceptionHandler'].includes(String(text.at(-1)))) console.error(...text);
  },
  warn: () => undefined,
};

export async function openNestApp(name: ServiceName, parts: ServiceParts, options: NestOptions): Promise<NestDoor> {
  const strategy = new BusStrategy(options.bus, parts.consumers);
  const front = (parts.controllers?.length ?? 0) > 0;
  const module: DynamicModule = {
    module: ServiceModule,
    controllers: [...(parts.controllers ?? []), ...(front ? [HealthController as Type] : [])],
    providers: [...(parts.providers ?? []), { provide: READINESS, useValue: options.notReady }],
  };
  if (!front) {
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
      strategy,
      logger: quiet,
      abortOnError: false,
    });
    await app.listen();
    return { listen: () => Promise.resolve(null), close: () => app.close() };
  }
  const adapter = new FastifyAdapter({ ...parts.http?.fastify, trustProxy: false });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: quiet,
    abortOnError: false,
    bodyParser: false,
  });
  await parts.http?.configure(app);
  app.connectMicroservice<MicroserviceOptions>({ strategy });
  await app.startAllMicroservices();
  const { COUNTERSIGN_HTTP_HOST: host, COUNTERSIGN_HTTP_PORT: port } = options.settings;
  return {
    listen: async () => {
      await app.listen(port, host).catch((error: NodeJS.ErrnoException) => {
        throw portFault(error, host, port);
      });
      const address = app.getHttpServer().address() as { port: number };
      return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
    },
    close: () => app.close(),
  };
}

interface Reply {
  status(code: number): Reply;
  send(body: unknown): void;
}

@Controller()
class HealthController {
  readonly #notReady: () => readonly string[];
  constructor(@Inject(READINESS) notReady: () => readonly string[]) {
    this.#notReady = notReady;
  }

  @Get('healthz')
  health(): { status: string } {
    return { status: 'ok' };
  }

  @Get('readyz')
  ready(@Res() reply: Reply): void {
    const reasons = this.#notReady();
    reply
      .status(reasons.length === 0 ? 200 : 503)
      .send(reasons.length === 0 ? { status: 'ready' } : { status: 'not_ready', reasons });
  }
}
