export type { AuditFault, AuditFaultKind, AuditReport, LedgerSummary, TenantSummary } from './audit-report.ts';
export { CURSOR_PATTERN, cursorAfter, readCursor, writeCursor, type AuditCursor } from './audit-cursor.ts';
export { CHECKPOINT_TYPE, digestOfRecord, hashRecord } from './audit-record.ts';
export {
  showCheckpoint,
  signCheckpoint,
  type Checkpoint,
  type CheckpointSigner,
  type LedgerHead,
} from './checkpoint.ts';
export { ledgerName, readLedgerName, type LedgerId } from './ledger-name.ts';
export { consistencyPath, inclusionPath, isConsistent, rootOfInclusion, type RangeOf } from './merkle-proof.ts';
export { GrowingTree, leafHash, nodeHash, TILE } from './merkle-tree.ts';
export {
  checkProof,
  consistencyProofSchema,
  inclusionProofSchema,
  proofSchema,
  type CheckedProof,
  type ConsistencyProof,
  type InclusionProof,
} from './proof.ts';
export { AuditVerifier, verifyAudit, type VerifyOptions } from './verify-audit.ts';
export { verifyOverHttp, type VerifyOverHttpOptions } from './verify-over-http.ts';
export { verifyTenant, type FetchJson, type VerifyPagesOptions } from './verify-pages.ts';
