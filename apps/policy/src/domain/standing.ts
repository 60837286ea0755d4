import {
  toolKey,
  type CallProposed,
  type Principal,
  type StandingRefused,
  type StandingScope,
  type ToolContract,
} from '#contracts';
import type { Decision } from './decision.ts';
import { amountOf } from './policy-question.ts';

/**
 * What a person allowed in advance. It answers `ask` alone: what policy denies stays denied, and each use is one exact grant.
 *
 * S1 only for low and medium risk, never for irreversible effects or where several people must approve; money needs bounds;
 * S2 bound to one contract digest: another version of the tool needs another standing grant;
 * S3 a use is counted in the transaction of its decision, by conditional updates: never more uses or a larger sum than allowed;
 * S4 a use comes back only by a settlement that proves no effect, or when policy itself takes its unused grant back;
 * S5 revoked or expired it is used no more, and no grant of it outlives it; what was sent meanwhile stands.
 */
export interface Standing {
  readonly standingId: string;
  readonly tenant: string;
  readonly scope: StandingScope;
  readonly grantedBy: Principal;
}

type Refusal = Pick<StandingRefused, 'code' | 'message'>;
const MAX_DAYS = 90;

const ineligible = ({ risk, sideEffects, approval, amountArgument }: ToolContract): string | null => {
  if (risk === 'high' || risk === 'critical') return `Nothing of ${risk} risk is allowed in advance.`;
  if (sideEffects === 'irreversible') return 'No irreversible effect is allowed in advance.';
  if ((approval.quorum ?? 1) > 1) return 'The tool needs several people for each call.';
  return sideEffects === 'money' && amountArgument === undefined
    ? 'The contract names no amountArgument to bound.'
    : null;
};

/** May this person allow this in advance? null = yes. @param contract null when the registry does not hold the digest */
export function refuseStanding(
  principal: Principal,
  scope: StandingScope,
  contract: ToolContract | null,
  now: number,
): Refusal | null {
  if (!contract || toolKey(contract) !== scope.tool)
    return { code: 'UNKNOWN_TOOL', message: 'The tool is not published.' };
  if (!contract.approval.roles.some((role) => principal.roles.includes(role)))
    return {
      code: 'PERMISSION_DENIED',
      message: 'This needs an approver role of the tool that the caller does not have.',
    };
  if (contract.approval.forbidSelf && scope.principal === principal.id)
    return { code: 'PERMISSION_DENIED', message: 'Nobody allows own calls in advance.' };
  const invalid = (message: string): Refusal => ({ code: 'INVALID_ARGS', message });
  const fault = ineligible(contract);
  if (fault !== null) return invalid(fault);
  const bounded = scope.maxAmount !== null || scope.totalAmount !== null;
  if (bounded && contract.amountArgument === undefined)
    return invalid('The contract names no amountArgument to bound.');
  if (contract.sideEffects === 'money' && (scope.maxAmount === null || scope.totalAmount === null))
    return invalid('Money needs maxAmount and totalAmount.');
  const until = Date.parse(scope.expiresAt);
  if (until <= now || until > now + MAX_DAYS * 86_400_000)
    return invalid(`expiresAt must lie ahead, at most ${MAX_DAYS} days.`);
  return null;
}

/** Does the call lie within what was allowed? How much is left is the table's to say (S3). */
export function covers(
  { scope, grantedBy, tenant }: Standing,
  callTenant: string,
  call: CallProposed,
  contract: ToolContract,
): boolean {
  if (tenant !== callTenant || scope.contractDigest !== call.contractDigest || call.effectClass !== 'call')
    return false;
  if (ineligible(contract) !== null) return false;
  if (scope.principal !== null && scope.principal !== call.principal.id) return false;
  if (contract.approval.forbidSelf && call.principal.id === grantedBy.id) return false;
  const amount = amountOf(call, contract);
  if (amount === null || amount < 0 || (scope.maxAmount !== null && amount > scope.maxAmount)) return false;
  if (scope.resources === null) return true;
  const patterns = scope.resources.map(patternOf);
  return call.resources.length > 0 && call.resources.every((resource) => patterns.some((one) => one.test(resource)));
}

const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*')}$`,
    'su',
  );

const PREFIX = 'standing:';
export const standingReason = (standingId: string): string => PREFIX + standingId;
/** The standing grant that a decision used. */
export const standingIdOf = ({ reasons }: Pick<Decision, 'reasons'>): string | null =>
  reasons.find((reason) => reason.startsWith(PREFIX))?.slice(PREFIX.length) ?? null;
