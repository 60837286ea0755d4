import { ContractCache, Quarantine, type ContractSource } from '#registry';
import { defineDoor } from '#runtime';
import { findApprovalChange } from './adapters/approval-change.query.ts';
import { findApproval, listApprovals, type ApprovalsAsked } from './adapters/approval-views.query.ts';
import { CedarEngine } from './adapters/cedar-engine.ts';
import { checkPolicies, readPolicyFiles } from './adapters/read-policies.ts';
import { openSigningKey, publicKeys } from './adapters/signing-key.repository.ts';
import { findStanding, listStandings, type StandingsAsked } from './adapters/standing-views.query.ts';
import { policySettings } from './policy.config.ts';
import { policyConsumers } from './policy.handlers.ts';
import { DecisionMaker } from './reducers/decision-maker.ts';
import { expiryOfApprovals } from './reducers/expire-approvals.worker.ts';
import { RejudgePending } from './reducers/rejudge-pending.worker.ts';
import { voidingOfSuspended } from './reducers/void-suspended.worker.ts';

/** For whoever checks a workspace before a service reads it. */
export { checkPolicies, readPolicyFiles } from './adapters/read-policies.ts';

/** Policy: decides every proposal, runs approvals, mints grants. It executes nothing and holds no tool's credentials. */
export const policyDoor = defineDoor({
  name: 'policy',
  settings: policySettings,
  migrations: new URL('./migrations/', import.meta.url),
  async open({ settings, database, outbox, clock, log, reads }) {
    const engine = new CedarEngine(checkPolicies(readPolicyFiles(settings.COUNTERSIGN_WORKSPACES)));
    const signingKey = await openSigningKey(database);
    const quarantine = new Quarantine(reads);
    const maker = new DecisionMaker({
      engine,
      signingKey,
      contracts: new ContractCache(reads as ContractSource),
      quarantine,
      journalEpoch: settings.COUNTERSIGN_JOURNAL_EPOCH,
      grantTtlMs: settings.COUNTERSIGN_GRANT_TTL_MS,
    });
    const parts = { maker, database, outbox, clock, log };
    log.info({ policyDigest: engine.policyDigest, kid: signingKey.kid }, 'policy is ready');
    return {
      consumers: policyConsumers(parts, settings.COUNTERSIGN_POOLS),
      workers: [
        quarantine,
        new RejudgePending(parts),
        voidingOfSuspended(parts, settings.COUNTERSIGN_APPROVAL_SWEEP_MS),
        expiryOfApprovals(parts, settings.COUNTERSIGN_APPROVAL_SWEEP_MS),
      ],
      reads: {
        publicKeys: () => publicKeys(database),
        approval: ({ tenant, approvalId }: { tenant: string; approvalId: string }) =>
          findApproval(database, tenant, approvalId),
        approvalChange: ({ tenant, approvalId, digest }: { tenant: string; approvalId: string; digest: string }) =>
          findApprovalChange(database, tenant, approvalId, digest),
        standing: ({ tenant, standingId }: { tenant: string; standingId: string }) =>
          findStanding(database, tenant, standingId),
        standings: (asked: StandingsAsked) => listStandings(database, asked),
        approvals: (asked: ApprovalsAsked) => listApprovals(database, asked),
      },
    };
  },
});
