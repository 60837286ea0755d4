export type { AuditFault, AuditFaultKind, AuditReport, LedgerSummary } from './audit-report.ts';
export { CHECKPOINT_TYPE } from './audit-record.ts';
export { signCheckpoint, type Checkpoint, type CheckpointSigner } from './checkpoint.ts';
export { AuditVerifier, verifyAudit, type VerifyOptions } from './verify-audit.ts';
export { verifyOverHttp, type VerifyOverHttpOptions } from './verify-over-http.ts';
export { verifyTenant, type FetchJson, type VerifyPagesOptions } from './verify-pages.ts';
