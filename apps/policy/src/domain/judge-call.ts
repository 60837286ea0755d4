import { isRead, toolKey, toolName, type CallProposed, type ToolContract } from '#contracts';
import { digestArguments } from '#kernel';
import {
  amountOf,
  policyQuestion,
  type PolicyAction,
  type PolicyAnswer,
  type PolicyQuestion,
} from './policy-question.ts';

export interface Verdict {
  readonly kind: 'allow' | 'ask' | 'deny';
  /** Ids of the determining policies, or of the rule of the contract. */
  readonly reasons: readonly string[];
  /** For people and models; holds no argument. */
  readonly message: string;
}

export type AskPolicy = (action: PolicyAction, question: PolicyQuestion) => PolicyAnswer;

const deny = (message: string, ...reasons: readonly string[]): Verdict => ({ kind: 'deny', reasons, message });
const ask = (reasons: readonly string[]): Verdict => ({
  kind: 'ask',
  reasons,
  message: 'A person must approve the call.',
});

/**
 * The decision about one proposal: a pure function of the proposal, its contract and the policies.
 * `approval.mode` of the contract: `always` asks whatever policy would permit unattended; `policy` leaves it to policy;
 * `never` adds no question of its own, so that only a policy that forbids `call_unattended` asks. None of them widens `call`.
 * @param undone of an undo: the contract of the call that it takes back
 * @param contract null when the registry does not hold the digest
 */
export function judgeCall(
  tenant: string,
  call: CallProposed,
  contract: ToolContract | null,
  askPolicy: AskPolicy,
  undone: ToolContract | null = null,
): Verdict {
  if (!contract) return deny('The tool is not published.', 'unknown-tool');
  if (!isDeclared(call, contract, undone))
    return deny('No contract of a call of this run declares this undo.', 'undo-not-declared');
  const mismatch = bindingFault(call, contract);
  if (mismatch !== null) return deny('The proposal does not fit its contract.', `binding:${mismatch}`);
  if (contract.access.roles.length > 0 && !contract.access.roles.some((role) => call.principal.roles.includes(role))) {
    return deny('The tool needs a role that the caller does not have.', 'contract:access.roles');
  }
  const question = policyQuestion(tenant, call, contract);
  const atAll = askPolicy('call', question);
  if (!atAll.allowed) return denied(atAll);
  if (contract.approval.mode === 'always') return ask(['contract:approval.mode=always']);
  // Otherwise an edit could be an approval under another name.
  if (call.edited) return ask(['edited-by-a-person']);
  const unattended = askPolicy('call_unattended', question);
  if (unattended.failed) return denied(unattended);
  if (unattended.allowed) return { kind: 'allow', reasons: unattended.reasons, message: 'Policy allows the call.' };
  if (unattended.reasons.length > 0) return ask(unattended.reasons);
  if (contract.approval.mode === 'never')
    return { kind: 'allow', reasons: atAll.reasons, message: 'Policy allows the call.' };
  return ask(['no-policy-permits-unattended']);
}

/** An undo is what the contract of the undone call says, or none at all. */
function isDeclared(
  { effectClass, undoes }: CallProposed,
  contract: ToolContract,
  undone: ToolContract | null,
): boolean {
  if (effectClass !== 'undo') return undoes === undefined;
  const declared = undone?.compensation;
  if (undoes === undefined || declared === undefined || 'pivot' in declared) return false;
  return declared.tool === toolName(contract) || declared.tool === toolKey(contract);
}

function denied(answer: PolicyAnswer): Verdict {
  if (answer.failed)
    return deny('Policy could not be evaluated, so the call is denied.', 'policy-failure', ...answer.reasons);
  if (answer.reasons.length === 0) return deny('No policy permits the call.', 'no-policy-permits');
  return deny('Policy denies the call.', ...answer.reasons);
}

/** Just those that the contract names: a missing fact denies. */
function hasFacts({ facts }: CallProposed, contract: ToolContract): boolean {
  const named = Object.keys(contract.facts?.values ?? {});
  return (
    Object.keys(facts?.values ?? {}).length === named.length && named.every((name) => facts && name in facts.values)
  );
}

/** What a person sees and what is signed must be what the contract and the digest say (G3). */
function bindingFault(call: CallProposed, contract: ToolContract): string | null {
  if (call.tool !== toolKey(contract)) return 'tool';
  if (call.pool !== contract.execution.pool) return 'pool';
  if ((call.effectClass === 'read') !== isRead(contract)) return 'effectClass';
  if (call.argumentsDigest !== digestArguments(call.tool, call.contractDigest, call.arguments))
    return 'argumentsDigest';
  if (amountOf(call, contract) === null) return 'amount';
  if (!hasFacts(call, contract)) return 'facts';
  return null;
}
