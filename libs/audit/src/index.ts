export type { AuditFault, AuditFaultKind, AuditReport, LedgerSummary, TenantSummary } from './audit-report.ts';
export { CHECKPOINT_TYPE } from './audit-record.ts';
export {
  showCheckpoint,
  signCheckpoint,
  type Checkpoint,
  type CheckpointSigner,
  type LedgerHead,
} from './checkpoint.ts';
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
export { LedgerFollower, type Followed, type FollowedRecord, type LedgerPosition } from './ledger-follower.ts';
export { verifyOverHttp, type VerifyOverHttpOptions } from './verify-over-http.ts';
export { verifyTenant, type FetchJson, type VerifyPagesOptions } from './verify-pages.ts';
