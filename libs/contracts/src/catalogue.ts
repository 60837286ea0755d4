import type { z } from 'zod';
import { APPROVAL_ROWS } from './catalogue/approval.rows.ts';
import { CALL_ROWS } from './catalogue/call.rows.ts';
import { MODEL_ROWS } from './catalogue/model.rows.ts';
import type { CatalogueRow } from './catalogue/catalogue-row.ts';
import { REGISTRY_ROWS } from './catalogue/registry.rows.ts';
import { RUN_ROWS } from './catalogue/run.rows.ts';
import { UNKNOWN_ROWS } from './catalogue/unknown.rows.ts';
import { STANDING_ROWS } from './catalogue/standing.rows.ts';

export type { CatalogueRow, KeyKind } from './catalogue/catalogue-row.ts';

/** One row per message type: the only list of what travels on the bus. */
export const CATALOGUE = {
  ...RUN_ROWS,
  ...MODEL_ROWS,
  ...CALL_ROWS,
  ...APPROVAL_ROWS,
  ...UNKNOWN_ROWS,
  ...STANDING_ROWS,
  ...REGISTRY_ROWS,
} as const satisfies Record<string, CatalogueRow>;

export type MessageType = keyof typeof CATALOGUE;
export type MessageData<T extends MessageType> = z.infer<(typeof CATALOGUE)[T]['schema']>;
export const isMessageType = (type: string): type is MessageType => Object.hasOwn(CATALOGUE, type);
