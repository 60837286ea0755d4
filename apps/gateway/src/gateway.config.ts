import { z } from 'zod';
import { tenantSchema } from '#contracts';
import { integerSetting, listSetting, platformSettings, type Settings } from '#runtime';
import { readCeiling, type BudgetCeiling } from './domain/budget-ceiling.ts';

export const gatewaySettings = {
  COUNTERSIGN_DEV: platformSettings.COUNTERSIGN_DEV,
  COUNTERSIGN_HTTP_HOST: platformSettings.COUNTERSIGN_HTTP_HOST,
  COUNTERSIGN_POOLS: platformSettings.COUNTERSIGN_POOLS,
  COUNTERSIGN_WORKSPACES: listSetting('').describe('folders with tools, policies and agents, comma separated'),
  COUNTERSIGN_DEV_TENANT: tenantSchema.default('dev').describe('tenant that the workspaces are published for'),
  COUNTERSIGN_PUBLISH_ALLOW: listSetting('').describe(
    'what HTTP tools that are published over the API may name: origins (https://tickets.example:8443) and settings of the pools (${DESK_URL}), comma separated, or *; empty = nothing, in development mode all',
  ),
  COUNTERSIGN_API_KEYS_FILE: z
    .string()
    .optional()
    .describe(
      'YAML list of {keySha256, tenant, principal, kind, roles, scopes, expiresAt, revoked}: the credentials that are accepted; read again when it changes',
    ),
  COUNTERSIGN_SUSPENDED_TENANTS: z
    .string()
    .optional()
    .describe(
      'file with one tenant a line ("#" begins a comment): their requests for new work are refused, nothing is granted or sent for them, their approvals are void and their runs stand still until the line is gone; read again when it changes; the same for all gateways',
    ),
  COUNTERSIGN_MAX_BUDGETS: z
    .string()
    .default('{}')
    .transform((text, context): BudgetCeiling => {
      const read = readCeiling(text);
      if (!('faults' in read)) return read;
      for (const message of read.faults) context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .describe(
      'what a run may use at most, as JSON: {"maxCalls":100,"maxCostUsd":5}; who asks for more is refused, defaults are clipped',
    ),
  COUNTERSIGN_GATEWAY_MAX_IN_FLIGHT: integerSetting(2000, 1, 100_000).describe(
    'requests that publish or wait at once; more are answered 429',
  ),
  COUNTERSIGN_GATEWAY_RATE_PER_S: integerSetting(500, 1, 1_000_000).describe(
    'requests a second that may be made with one key for ever; more are answered 429',
  ),
  COUNTERSIGN_GATEWAY_RATE_BURST: integerSetting(1000, 1, 1_000_000).describe(
    'requests that may be made with one key at once',
  ),
  COUNTERSIGN_GATEWAY_MAX_BODY_BYTES: integerSetting(393_216, 1024, 393_216).describe(
    'bytes of a request body; more are answered 413',
  ),
  COUNTERSIGN_GATEWAY_STREAMS_PER_CALLER: integerSetting(16, 1, 10_000).describe(
    'streams of events that one caller may have open; more are answered 429',
  ),
  COUNTERSIGN_GATEWAY_MAX_STREAMS: integerSetting(2000, 1, 100_000).describe(
    'streams of events that may be open in one process; more are answered 429',
  ),
  COUNTERSIGN_GATEWAY_STREAM_BUFFER_BYTES: integerSetting(1_048_576, 1024, 67_108_864).describe(
    'bytes that a reader of a stream may be behind before it is dropped',
  ),
  COUNTERSIGN_GATEWAY_STREAM_HEARTBEAT_MS: integerSetting(15_000, 50, 300_000).describe(
    'milliseconds of silence after which a stream gives a sign of life',
  ),
};
export type GatewaySettings = Settings<typeof gatewaySettings>;
