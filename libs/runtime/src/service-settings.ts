/**
 * Settings of single services. A process is often given the environment of the whole installation: these names are
 * known everywhere, so that only a misspelt one is refused. test/architecture holds the list against the services.
 */
export const SERVICE_SETTING_NAMES: readonly string[] = [
  'COUNTERSIGN_API_KEYS_FILE',
  'COUNTERSIGN_APPROVAL_SWEEP_MS',
  'COUNTERSIGN_AUDIT_PACE_MS',
  'COUNTERSIGN_DEV_TENANT',
  'COUNTERSIGN_EXECUTOR_DRAIN_MS',
  'COUNTERSIGN_EXECUTOR_PARALLEL',
  'COUNTERSIGN_GATEWAY_MAX_BODY_BYTES',
  'COUNTERSIGN_GATEWAY_MAX_IN_FLIGHT',
  'COUNTERSIGN_GRANT_TTL_MS',
  'COUNTERSIGN_LEASE_MARGIN_MS',
  'COUNTERSIGN_LEASE_MS',
  'COUNTERSIGN_LOCK_WAIT_MS',
  'COUNTERSIGN_MODEL_ATTEMPTS',
  'COUNTERSIGN_MODEL_CONCURRENCY',
  'COUNTERSIGN_MODEL_TIMEOUT_MS',
  'COUNTERSIGN_OPENAI_BASE_URL',
  'COUNTERSIGN_ORCHESTRATOR_SWEEP_MS',
  'COUNTERSIGN_POOL',
  'COUNTERSIGN_SWEEP_MS',
  'COUNTERSIGN_TOOL_ENV',
  'COUNTERSIGN_VIEW_PACE_MS',
  'COUNTERSIGN_WORKSPACES',
];

/** Settings of the command line: a shell that has them may start services too. */
export const CLIENT_SETTING_NAMES: readonly string[] = ['COUNTERSIGN_URL', 'COUNTERSIGN_TOKEN'];
