import type { MessageData, MessageType } from '#contracts';
import type { AuditField } from './audit-field.ts';

/**
 * How a fact becomes a record of the audit: one row, and that is all that a new fact needs.
 * The test holds the rows against the catalogue: a fact that names telemetry as a reader and has no row fails it.
 */
export interface AuditRow<D> {
  /** `call.settled` is published as `dev.countersign.call.settled.v1`. */
  readonly name: string;
  /** What names the fact beside its call, run or tenant: a fact with the same is the same record. Nothing = only one. */
  readonly identity?: (data: D) => readonly (string | number)[];
  readonly fields: Readonly<Record<string, AuditField<D>>>;
}

export type AuditRows = { readonly [T in MessageType]?: AuditRow<MessageData<T>> };

/** Version of the records' data. */
export const DATA_VERSION = 1;

export const eventType = (name: string): string => `dev.countersign.${name}.v${DATA_VERSION}`;
