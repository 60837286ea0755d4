import type { CallProposed, ToolContract } from '#contracts';
import { grantId, mintGrant, type GrantClaims, type SigningKey } from '#grants';
import { CountersignError, digestJson, InfrastructureError, runIdOfCall } from '#kernel';
import type { QuarantineList } from '#registry';
import type { CedarEngine } from '../adapters/cedar-engine.ts';
import { approvalRequest, type Approval } from '../domain/approval.ts';
import type { FinalOutcome, Voids } from '../domain/decide.ts';
import { type Decision, type DecisionState, type Proposal, type UsedApproval } from '../domain/decision.ts';
import { decisionId } from '../domain/decision-messages.ts';
import type { CheckInput } from '../domain/edit.ts';
import { judgeCall, type Verdict } from '../domain/judge-call.ts';

/** Contracts by digest, as `ContractCache` gives them. */
export interface ContractSource {
  byDigest(digest: string): Promise<ToolContract>;
  peek(digest: string): ToolContract | undefined;
  inputOf(digest: string): Promise<{ validate: CheckInput }>;
}
/** Answers null for a digest that the registry does not hold. */
export type KnownContracts = (digest: string) => ToolContract | null;

/** A decision that is not committed yet. */
export interface Draft {
  readonly proposal: Proposal;
  readonly decision: Decision;
  /** The request that comes with an `asked` decision. */
  readonly approval: Approval | null;
  /** An approval that this decision voids. */
  readonly voids: Voids | null;
}

export interface DecisionMakerOptions {
  readonly engine: CedarEngine;
  readonly signingKey: SigningKey;
  readonly contracts: ContractSource;
  readonly quarantine: QuarantineList;
  /** Of the journal that grants are for; raised after it was restored from a backup. */
  readonly journalEpoch: number;
  readonly grantTtlMs: number;
}

const QUARANTINED: Verdict = {
  kind: 'deny',
  reasons: ['registry:quarantined'],
  message: 'The tool is quarantined.',
};

const SUSPENDED: Verdict = {
  kind: 'deny',
  reasons: ['tenant:suspended'],
  message: 'The tenant is suspended.',
};

type ContractNamed = Pick<CallProposed, 'contractDigest'> & Partial<Pick<CallProposed, 'undoes'>>;

/** Joins the pure decisions with Cedar, the contracts and the signing key. */
export class DecisionMaker {
  readonly policyDigest: string;
  readonly #options: DecisionMakerOptions;

  constructor(options: DecisionMakerOptions) {
    this.#options = options;
    this.policyDigest = options.engine.policyDigest;
  }

  /** Fetches what is not cached. @throws InfrastructureError when the registry is away */
  async contractsOf(calls: readonly ContractNamed[]): Promise<KnownContracts> {
    const { contracts, quarantine } = this.#options;
    await quarantine.ready();
    const wanted = calls.flatMap((call) => [call.contractDigest, ...(call.undoes ? [call.undoes.contractDigest] : [])]);
    const missing = new Set(wanted.filter((digest) => !contracts.peek(digest)));
    await Promise.all(
      [...missing].map((digest) =>
        contracts.byDigest(digest).catch((error: unknown) => {
          if (error instanceof CountersignError && !(error instanceof InfrastructureError)) return null; // not published: denied
          throw error;
        }),
      ),
    );
    return (digest) => contracts.peek(digest) ?? null;
  }

  /** A pool that gave a grant back may have heard of a quarantine first. @throws InfrastructureError when the registry is away */
  async renewQuarantine(): Promise<void> {
    await this.#options.quarantine.renew();
  }

  /** By the list as it is known. */
  get suspended(): ReadonlySet<string> {
    return this.#options.quarantine.suspended;
  }

  /** Checkers of arguments by contract digest; without those that nobody can read. @throws InfrastructureError when the registry is away */
  async inputsOf(calls: readonly ContractNamed[]): Promise<ReadonlyMap<string, CheckInput>> {
    const { contracts } = this.#options;
    const known = [...new Set(calls.map((call) => call.contractDigest))].filter((digest) => contracts.peek(digest));
    const inputs = await Promise.all(known.map((digest) => contracts.inputOf(digest)));
    return new Map(known.map((digest, i) => [digest, (args) => inputs[i]!.validate(args)]));
  }

  judge(proposal: Proposal, contracts: KnownContracts): Verdict {
    const { tenant, call, runId } = proposal;
    if (this.suspended.has(tenant)) return SUSPENDED;
    if (this.#options.quarantine.has(tenant, call.tool)) return QUARANTINED;
    const { undoes } = call;
    const undone = undoes && runIdOfCall(undoes.callId) === runId ? contracts(undoes.contractDigest) : null;
    return judgeCall(tenant, call, contracts(call.contractDigest), this.#options.engine.ask, undone);
  }

  /** Turns an outcome into a row, minting the grant or writing the request. */
  draft(
    proposal: Proposal,
    decisionNo: number,
    outcome: FinalOutcome,
    contracts: KnownContracts,
    now: number,
    returns = 0,
  ): Draft {
    const { callId, tenant, runId } = proposal;
    const { policyDigest } = this;
    const head = { callId, decisionNo, tenant, runId, policyDigest, reasons: outcome.reasons, decidedAt: now, returns };
    const rest = { proposal, voids: outcome.voids ?? null };
    switch (outcome.kind) {
      case 'grant':
        return {
          ...rest,
          approval: null,
          decision: {
            ...head,
            state: this.grant(proposal, decisionNo, outcome.approval, now, outcome.notAfter, outcome.standingId),
          },
        };
      case 'refuse':
        return { ...rest, approval: null, decision: { ...head, state: outcome.refusal } };
      case 'ask': {
        const contract = contracts(proposal.call.contractDigest);
        if (!contract) throw new TypeError('a call without a contract is never asked about');
        const request = approvalRequest(proposal, decisionNo, contract, outcome.reasons, policyDigest, now);
        const approval: Approval = {
          approvalId: request.approvalId,
          tenant,
          callId,
          runId,
          status: 'pending',
          request,
          requestedAt: now,
        };
        return { ...rest, approval, decision: { ...head, state: { kind: 'asked', approvalId: request.approvalId } } };
      }
    }
  }

  /**
   * Was the call granted before the journal was restored? Its effect may have been forgotten by the restore: such a grant
   * is repeated as it is, expired or not, so that the pool answers for it; another one could make the effect twice.
   */
  isOfEarlierJournal({ state }: Decision): boolean {
    if (state.kind !== 'granted') return false;
    const claims = JSON.parse(Buffer.from(state.token.split('.')[1] ?? '', 'base64url').toString()) as GrantClaims;
    return claims.journalEpoch < this.#options.journalEpoch;
  }

  /**
   * Mints the grant of one decision.
   * @param notAfter epoch milliseconds: the grant ends with its approval (P6)
   */
  grant(
    proposal: Proposal,
    decisionNo: number,
    approval: UsedApproval | null,
    now: number,
    notAfter = Infinity,
    standingId?: string,
  ): DecisionState {
    const { call, callId } = proposal;
    const iat = Math.floor(now / 1000);
    const exp = Math.min(iat + Math.floor(this.#options.grantTtlMs / 1000), Math.floor(notAfter / 1000));
    const claims = {
      jti: grantId(callId, decisionNo),
      tenant: proposal.tenant,
      runId: proposal.runId,
      callId,
      principal: call.principal.id,
      tool: call.tool,
      contractDigest: call.contractDigest,
      argsDigest: call.argumentsDigest,
      resources: call.resources,
      effectClass: call.effectClass,
      operationKey: call.operationKey,
      ...(call.undoes ? { undoes: call.undoes.callId } : {}),
      ...(call.facts ? { factsDigest: digestJson('facts/v1', call.facts) } : {}),
      policyDigest: this.policyDigest,
      decisionId: decisionId(callId, decisionNo),
      decisionNo,
      ...(approval ? { approvalId: approval.approvalId, approvers: [...approval.approvers] } : {}),
      ...(standingId === undefined ? {} : { standingId }),
      journalEpoch: this.#options.journalEpoch,
      aud: call.pool,
      iat,
      exp,
    };
    return { kind: 'granted', token: mintGrant(claims, this.#options.signingKey), expiresAt: exp, approval };
  }
}
