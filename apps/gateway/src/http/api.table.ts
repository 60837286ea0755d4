import type { ApiRoute } from './api-route.ts';
import { APPROVAL_ROUTES } from './routes/approvals.routes.ts';
import { AUDIT_ROUTES } from './routes/audit.routes.ts';
import { CALL_ROUTES } from './routes/calls.routes.ts';
import { RUN_ROUTES } from './routes/runs.routes.ts';
import { SERVICE_ROUTES } from './routes/service.routes.ts';
import { TOOL_PUBLISHING_ROUTES } from './routes/tool-publishing.routes.ts';
import { STANDING_ROUTES } from './routes/standings.routes.ts';
import { TOOL_ROUTES } from './routes/tools.routes.ts';
import { UNKNOWN_ROUTES } from './routes/unknowns.routes.ts';
import { USAGE_ROUTES } from './routes/usage.routes.ts';

/** All routes of the public API, one row each: the controllers are checked against it, the OpenAPI document is made of it. */
export const API: readonly ApiRoute[] = [
  ...RUN_ROUTES,
  ...CALL_ROUTES,
  ...UNKNOWN_ROUTES,
  ...APPROVAL_ROUTES,
  ...STANDING_ROUTES,
  ...TOOL_ROUTES,
  ...TOOL_PUBLISHING_ROUTES,
  ...AUDIT_ROUTES,
  ...USAGE_ROUTES,
  ...SERVICE_ROUTES,
];
