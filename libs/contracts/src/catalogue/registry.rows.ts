import * as registry from '../messages/registry.schema.ts';
import { row } from './catalogue-row.ts';

/** What becomes of tools, beside runs and calls. */
export const REGISTRY_ROWS = {
  ToolChanged: row(registry.toolChangedSchema, {
    topic: 'registry.changes',
    key: 'tenant',
    kind: 'fact',
    producer: 'gateway',
    consumers: ['telemetry'],
    meaning: 'A tool was published, proposed, reviewed, quarantined, deprecated or released.',
  }),
} as const;
