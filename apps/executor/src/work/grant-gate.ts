import type { GrantReturned, Message, ToolContract } from '#contracts';
import { toolKey } from '#contracts';
import type { GrantClaims } from '#grants';
import { CountersignError, InfrastructureError } from '#kernel';
import type { QuarantineList } from '#registry';
import { grantMismatch } from '../domain/check-grant.ts';
import { prepareCall, type LeaseRules, type PreparedCall } from '../domain/prepared-call.ts';

export interface GrantGateOptions {
  readonly pool: string;
  readonly rules: LeaseRules;
  /** @throws CountersignError GRANT_INVALID, InfrastructureError (policy is away) */
  readonly verify: (token: string) => Promise<GrantClaims>;
  readonly contracts: { byDigest(digest: string): Promise<ToolContract> };
  readonly quarantine: QuarantineList;
}

export type GateAnswer =
  | { readonly kind: 'open'; readonly call: PreparedCall }
  /** No effect, no settlement. `claims` when the signature was good. */
  | { readonly kind: 'refused'; readonly message: string; readonly claims: GrantClaims | null }
  | { readonly kind: 'returned'; readonly reason: GrantReturned['reason'] };

/** Lets a granted call through only if its grant is ours and is for exactly this call (G2, G3). Expiry is the journal's. */
export class GrantGate {
  readonly #options: GrantGateOptions;

  constructor(options: GrantGateOptions) {
    this.#options = options;
  }

  /** @throws InfrastructureError when policy or the registry cannot be asked */
  async check(granted: Message<'CallGranted'>): Promise<GateAnswer> {
    let claims: GrantClaims;
    try {
      claims = await this.#options.verify(granted.data.grant);
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return { kind: 'refused', message: error.message, claims: null };
    }
    const wrong = grantMismatch(granted, claims, this.#options.pool);
    if (wrong !== null) return { kind: 'refused', message: `The grant is not for this call: ${wrong} differs`, claims };
    const { quarantine } = this.#options;
    await quarantine.ready();
    if (quarantine.has(claims.tenant, claims.tool)) {
      await quarantine.renew();
      if (quarantine.has(claims.tenant, claims.tool)) return { kind: 'returned', reason: 'CONTRACT_CHANGED' };
    }
    return this.prepare(granted, claims);
  }

  /** For a call whose grant was checked before. */
  async prepare(granted: Message<'CallGranted'>, claims: GrantClaims): Promise<GateAnswer> {
    try {
      const contract = await this.#options.contracts.byDigest(claims.contractDigest);
      if (toolKey(contract) !== claims.tool) {
        return { kind: 'refused', message: 'The contract of the grant belongs to another tool', claims };
      }
      if (contract.facts !== undefined && granted.data.facts === undefined)
        return { kind: 'refused', message: 'The grant names none of the facts that the contract wants', claims };
      return { kind: 'open', call: prepareCall(granted, claims, contract, this.#options.rules) };
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return { kind: 'returned', reason: 'CONTRACT_CHANGED' };
    }
  }
}

const isAnswer = (error: unknown): error is CountersignError =>
  error instanceof CountersignError && !(error instanceof InfrastructureError);
