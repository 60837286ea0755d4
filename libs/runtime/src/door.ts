import type { Provider, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Bus, ConsumerSpec } from '#bus';
import type { Clock } from '#kernel';
import type { LockPort } from '#locks';
import type { Database, Outbox } from '#persistence';
import type { Log } from './log.ts';
import type { Environment, Settings, SettingsShape } from './settings.ts';

export type ServiceName =
  'gateway' | 'orchestrator' | 'model-adapter' | 'policy' | 'executor' | 'state-store' | 'telemetry';

/** A service's read-only questions: name → answer. Called directly when embedded, over internal HTTP otherwise. */
export type ReadPort = Readonly<Record<string, (args: never) => Promise<unknown>>>;

/** Asks another service's read port; no service reads another's tables. */
export interface Reads {
  /** @throws InfrastructureError when the service cannot be reached */
  read<T>(service: ServiceName, question: string, args: object): Promise<T>;
}

/** Background work of a service: sweepers, lease renewals, timers, tool runs. */
export interface Worker {
  start(): void | Promise<void>;
  /** Stops admitting, finishes or hands back what is in work. */
  drain(): Promise<void>;
}

/** What a service gets from the runtime. Nothing in it tells the mode. */
export interface ServiceContext<S extends SettingsShape = SettingsShape> {
  readonly settings: Settings<S>;
  /** The process's environment, for what tools of this pool may see of it; settings come from `settings`. */
  readonly environment: Environment;
  readonly database: Database;
  readonly outbox: Outbox;
  readonly bus: Bus;
  readonly locks: LockPort;
  readonly reads: Reads;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this process, e.g. for leases and `latest` groups. */
  readonly instance: string;
}

/** What a service gives to the runtime. */
export interface ServiceParts {
  readonly consumers: readonly ConsumerSpec[];
  readonly reads?: ReadPort;
  /** Started after the consumers are subscribed, drained before the bus. */
  readonly workers?: readonly Worker[];
  /** A service with controllers gets an HTTP front on COUNTERSIGN_HTTP_HOST/PORT. */
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  readonly http?: HttpFront;
}

export interface HttpFront {
  /** Options of the Fastify server (limits, timeouts). */
  readonly fastify?: Readonly<Record<string, unknown>>;
  /** Body parsers, error handlers, global filters: before anything listens. Nest's own body parser is off. */
  configure(app: NestFastifyApplication): void | Promise<void>;
}

/** The door of a service: the only thing that others may import. */
export interface ServiceDoor<S extends SettingsShape = SettingsShape> {
  readonly name: ServiceName;
  readonly settings: S;
  /** Folder of numbered SQL files. */
  readonly migrations: URL;
  open(context: ServiceContext<S>): ServiceParts | Promise<ServiceParts>;
}

export function defineDoor<S extends SettingsShape>(door: ServiceDoor<S>): ServiceDoor<S> {
  return door;
}
