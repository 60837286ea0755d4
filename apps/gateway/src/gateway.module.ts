import type { Provider, Type } from '@nestjs/common';
import { DEFAULT_JSON_LIMITS } from '#kernel';
import { ContractStore, ToolShelf } from '#registry';
import { defineDoor, WatchedFile, type ServiceDoor } from '#runtime';
import { loadWorkspace } from '#tools';
import { AcceptedRuns } from './adapters/accepted-runs.ts';
import { readApiKeys } from './adapters/api-keys.ts';
import { ApprovalDesk } from './adapters/approval-desk.ts';
import { CommandExchange } from './adapters/command-exchange.ts';
import { InFlight } from './adapters/in-flight.ts';
import { packageVersion } from './adapters/package-version.ts';
import { RateLimit } from './adapters/rate-limit.ts';
import { RegistryChanges } from './adapters/registry-changes.worker.ts';
import { RunProgressReader } from './adapters/run-progress-reader.ts';
import { RunStreams } from './adapters/run-streams.ts';
import { RunViews } from './adapters/run-views.ts';
import { StreamSweeper } from './adapters/stream-sweeper.worker.ts';
import { readSuspendedTenants } from './adapters/suspended-tenants.ts';
import { StandingDesk } from './adapters/standing-desk.ts';
import { ToolCatalogue } from './adapters/tool-catalogue.ts';
import { toolChangeOutlet } from './adapters/tool-change-outlet.ts';
import { ToolPublisher } from './adapters/tool-publisher.ts';
import { UnknownDesk } from './adapters/unknown-desk.ts';
import { Watchers } from './adapters/watchers.ts';
import { publishWorkspaces } from './adapters/workspaces.ts';
import { GatewayIntake } from './gateway-intake.ts';
import { RunCommands } from './gateway-run-commands.ts';
import { gatewaySettings } from './gateway.config.ts';
import { gatewayConsumers } from './gateway.handlers.ts';
import { gatewayReads } from './gateway.reads.ts';
import { Access, checkAccessSettings } from './http/access.ts';
import { ApprovalsController } from './http/approvals.controller.ts';
import { AuditController } from './http/audit.controller.ts';
import { CallsController } from './http/calls.controller.ts';
import { httpFront } from './http/http-front.ts';
import { OpenApiController } from './http/openapi.controller.ts';
import { OperationsController } from './http/operations.controller.ts';
import { RunEventsController } from './http/run-events.controller.ts';
import { RunsController } from './http/runs.controller.ts';
import { StandingsController } from './http/standings.controller.ts';
import * as tokens from './http/tokens.ts';
import { ToolPublishingController } from './http/tool-publishing.controller.ts';
import { ToolReviewsController } from './http/tool-reviews.controller.ts';
import { ToolsController } from './http/tools.controller.ts';
import { UnknownsController } from './http/unknowns.controller.ts';
import { UsageController } from './http/usage.controller.ts';
import { WatchersLifecycle } from './http/watchers.lifecycle.ts';

export interface GatewayDoorOptions {
  /** Beside the gateway's own; they may inject its tokens. */
  readonly controllers?: readonly Type[];
  /** Does a second publisher look at what matters in a new version? Default: yes, but in development mode. */
  readonly reviews?: boolean;
}

const NOBODY: ReadonlySet<string> = new Set();

const value = (provide: symbol, useValue: unknown): Provider => ({ provide, useValue });

export function createGatewayDoor(options: GatewayDoorOptions = {}): ServiceDoor<typeof gatewaySettings> {
  return defineDoor({
    name: 'gateway',
    settings: gatewaySettings,
    migrations: new URL('./migrations/', import.meta.url),
    async open({ settings, database, outbox, bus, reads, clock, log, instance }) {
      const keysFile = settings.COUNTERSIGN_API_KEYS_FILE;
      const keyFile =
        keysFile === undefined
          ? null
          : await WatchedFile.open({
              file: keysFile,
              what: 'the API keys',
              read: readApiKeys,
              count: (keys) => keys.size,
              log,
            });
      const suspendedFile = settings.COUNTERSIGN_SUSPENDED_TENANTS;
      const suspensions =
        suspendedFile === undefined
          ? null
          : await WatchedFile.open({
              file: suspendedFile,
              what: 'the suspended tenants',
              read: readSuspendedTenants,
              count: (tenants) => tenants.size,
              log,
            });
      const suspended = (): ReadonlySet<string> => suspensions?.current ?? NOBODY;
      checkAccessSettings(settings.COUNTERSIGN_DEV, settings.COUNTERSIGN_HTTP_HOST, keyFile !== null);
      const rate = new RateLimit(settings.COUNTERSIGN_GATEWAY_RATE_PER_S, settings.COUNTERSIGN_GATEWAY_RATE_BURST);
      const changes = toolChangeOutlet(outbox, clock, (staged) => outbox.emit(staged));
      const store = new ContractStore(database, changes);
      const shelf = new ToolShelf(database, changes);
      const workspaces = await Promise.all(settings.COUNTERSIGN_WORKSPACES.map(loadWorkspace));
      // Nobody listens on the bus yet: what this tells is sent when the outbox starts.
      const early = new ContractStore(
        database,
        toolChangeOutlet(outbox, clock, () => undefined),
      );
      const agents = await publishWorkspaces(workspaces, settings.COUNTERSIGN_DEV_TENANT, early);
      const watchers = new Watchers();
      const streams = new RunStreams({
        perCaller: settings.COUNTERSIGN_GATEWAY_STREAMS_PER_CALLER,
        all: settings.COUNTERSIGN_GATEWAY_MAX_STREAMS,
      });
      const accepted = new AcceptedRuns();
      const views = new RunViews(reads, accepted);
      const tools = new ToolCatalogue(store, clock);
      const publisher = new ToolPublisher({
        store,
        shelf,
        tools,
        reviews: options.reviews ?? !settings.COUNTERSIGN_DEV,
        allow:
          settings.COUNTERSIGN_DEV && settings.COUNTERSIGN_PUBLISH_ALLOW.length === 0
            ? ['*']
            : settings.COUNTERSIGN_PUBLISH_ALLOW,
      });
      const exchange = new CommandExchange(bus, watchers, new InFlight(settings.COUNTERSIGN_GATEWAY_MAX_IN_FLIGHT));
      const ceiling = settings.COUNTERSIGN_MAX_BUDGETS;
      const intake = { exchange, tools, agents, views, accepted, clock, ceiling };
      const maxBytes = settings.COUNTERSIGN_GATEWAY_MAX_BODY_BYTES;
      return {
        consumers: gatewayConsumers(watchers, streams, settings.COUNTERSIGN_POOLS, instance),
        reads: gatewayReads(store, shelf, suspended),
        workers: [
          new RegistryChanges(shelf, tools, log),
          new StreamSweeper(streams),
          ...(keyFile ? [keyFile] : []),
          ...(suspensions ? [suspensions] : []),
        ],
        controllers: [
          RunsController,
          RunEventsController,
          CallsController,
          UnknownsController,
          ApprovalsController,
          ToolPublishingController,
          ToolReviewsController,
          StandingsController,
          ToolsController,
          OperationsController,
          OpenApiController,
          AuditController,
          UsageController,
          ...(options.controllers ?? []),
        ],
        providers: [
          value(
            tokens.ACCESS,
            new Access({
              dev: settings.COUNTERSIGN_DEV,
              keys: { find: (keySha256) => keyFile?.current.get(keySha256) },
              rate,
              now: () => clock.now(),
              isSuspended: (tenant) => suspended().has(tenant),
            }),
          ),
          value(tokens.INTAKE, new GatewayIntake(intake)),
          value(tokens.RUN_COMMANDS, new RunCommands(intake)),
          value(tokens.VIEWS, views),
          value(tokens.READS, reads),
          value(tokens.APPROVAL_DESK, new ApprovalDesk(reads, exchange, clock)),
          value(tokens.UNKNOWN_DESK, new UnknownDesk({ reads, views, exchange, clock })),
          value(tokens.STANDING_DESK, new StandingDesk(reads, exchange, tools, clock)),
          value(tokens.TOOLS, tools),
          value(tokens.PUBLISHER, publisher),
          value(tokens.BODY_LIMITS, { ...DEFAULT_JSON_LIMITS, maxBytes }),
          value(tokens.VERSION, packageVersion()),
          value(tokens.STREAMS, streams),
          value(tokens.PROGRESS, new RunProgressReader(reads)),
          value(tokens.STREAM_LIMITS, {
            heartbeatMs: settings.COUNTERSIGN_GATEWAY_STREAM_HEARTBEAT_MS,
            bufferBytes: settings.COUNTERSIGN_GATEWAY_STREAM_BUFFER_BYTES,
          }),
          { provide: WatchersLifecycle, useFactory: () => new WatchersLifecycle(watchers, streams) },
        ],
        http: httpFront(maxBytes, log),
      };
    },
  });
}

export const gatewayDoor = createGatewayDoor();
