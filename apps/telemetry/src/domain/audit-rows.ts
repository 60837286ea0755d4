import type { MessageType } from '#contracts';
import { APPROVAL_AUDIT } from './approval.audit.ts';
import type { AuditRow } from './audit-row.ts';
import { CALL_AUDIT } from './call.audit.ts';
import { REGISTRY_AUDIT } from './registry.audit.ts';
import { RUN_AUDIT } from './run.audit.ts';
import { STANDING_AUDIT } from './standing.audit.ts';
import { UNKNOWN_AUDIT } from './unknown.audit.ts';

/** Which facts are audited, and as what. */
export const AUDIT_ROWS = {
  ...RUN_AUDIT,
  ...CALL_AUDIT,
  ...APPROVAL_AUDIT,
  ...STANDING_AUDIT,
  ...UNKNOWN_AUDIT,
  ...REGISTRY_AUDIT,
};

export type AuditedType = keyof typeof AUDIT_ROWS;
export const AUDITED_TYPES = Object.keys(AUDIT_ROWS) as readonly (AuditedType & MessageType)[];

/** The row of a fact; what its functions get is that fact's data. */
export const auditRowOf = (type: AuditedType): AuditRow<unknown> => AUDIT_ROWS[type] as AuditRow<unknown>;
