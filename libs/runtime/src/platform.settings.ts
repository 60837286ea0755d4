import { z } from 'zod';
import { flagSetting, integerSetting, listSetting, type Settings } from './settings.ts';

export const SERVICE_NAMES = [
  'gateway',
  'orchestrator',
  'model-adapter',
  'policy',
  'executor',
  'state-store',
  'telemetry',
] as const;

/** What every process of an installation shares. Only this folder, libs/bus and libs/locks know the mode. */
export const platformSettings = {
  COUNTERSIGN_DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'expected postgres://…')
    .optional()
    .describe(
      'PostgreSQL of the services; absent = an embedded one below COUNTERSIGN_DATA_DIR (all services in one process only)',
    ),
  COUNTERSIGN_DATA_DIR: z.string().default('.countersign/data').describe('data directory of the embedded PostgreSQL'),
  COUNTERSIGN_DATABASE_CONNECTIONS: integerSetting(6, 2, 100).describe('connections per service'),
  COUNTERSIGN_KAFKA_BROKERS: listSetting('').describe(
    'host:port, comma separated; empty = the in-process bus (all services in one process only)',
  ),
  COUNTERSIGN_KAFKA_PARTITIONS: integerSetting(6, 1, 1000).describe('partitions of topics that are created'),
  COUNTERSIGN_REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'expected redis://…')
    .optional()
    .describe('Redis for lock waits; absent = waits are ordered by PostgreSQL'),
  COUNTERSIGN_POOLS: listSetting('default').describe('all executor pools of the installation'),
  COUNTERSIGN_DEV: flagSetting().describe('development mode: unauthenticated callers, loopback only'),
  COUNTERSIGN_FAULT_FILE: z
    .string()
    .optional()
    .describe('for fault tests, in development mode only: a file that names the place at which this process is killed'),
  COUNTERSIGN_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('level of the logs on stderr'),
  COUNTERSIGN_HTTP_HOST: z.string().default('127.0.0.1').describe("address of the gateway's HTTP API"),
  COUNTERSIGN_HTTP_PORT: integerSetting(8080, 0, 65535).describe("port of the gateway's HTTP API; 0 = any free one"),
  COUNTERSIGN_INTERNAL_HOST: z.string().default('127.0.0.1').describe('address of health checks and read ports'),
  COUNTERSIGN_INTERNAL_PORT: integerSetting(0, 0, 65535).describe(
    'port of health checks and read ports; 0 = any free one',
  ),
  COUNTERSIGN_INTERNAL_TOKEN: z
    .string()
    .min(16, 'expected at least 16 characters')
    .optional()
    .describe('shared secret of the services for read ports; needed where services are processes of their own'),
  COUNTERSIGN_GATEWAY_URL: z.url().optional().describe('read port of the gateway'),
  COUNTERSIGN_ORCHESTRATOR_URL: z.url().optional().describe('read port of the orchestrator'),
  COUNTERSIGN_MODEL_ADAPTER_URL: z.url().optional().describe('read port of the model adapter'),
  COUNTERSIGN_POLICY_URL: z.url().optional().describe('read port of policy'),
  COUNTERSIGN_EXECUTOR_URL: z.url().optional().describe('read port of the executor'),
  COUNTERSIGN_STATE_STORE_URL: z.url().optional().describe('read port of the state store'),
  COUNTERSIGN_TELEMETRY_URL: z.url().optional().describe('read port of telemetry'),
};
export type PlatformSettings = Settings<typeof platformSettings>;
