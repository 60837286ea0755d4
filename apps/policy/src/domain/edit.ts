import type { EditApproval, ToolContract } from '#contracts';
import { callIdOf, digestArguments, type ErrorDetail } from '#kernel';
import type { ApprovalRefusal } from './approval.ts';
import type { Proposal } from './decision.ts';

/**
 * An approver proposes other arguments (EditApproval).
 *
 * E1 the approval is superseded and its call denied in one commit; the edited call has an id that follows from the
 *    approval, so there is one at most, however often the command comes.
 * E2 policy makes no call of it: the orchestrator admits the edited arguments like any others, and proposes them.
 * E3 arguments that do not fit are refused with their paths, and nothing changes. An edit cites no evidence that the
 *    proposal did not cite: only what the run has read is evidence, and the orchestrator checked that.
 */
export const editedCallId = (runId: string, approvalId: string): string => callIdOf(runId, ['edit', approvalId]);

/** Answers the arguments as they will run, or an approval's refusal. */
export type CheckInput = (
  args: unknown,
) =>
  | { readonly ok: true; readonly arguments: Record<string, unknown> }
  | { readonly ok: false; readonly details: readonly ErrorDetail[] };

/** As the orchestrator's own limit of arguments. */
const MAX_ARGUMENTS_BYTES = 262_144;

export interface Edit {
  readonly arguments: Record<string, unknown>;
  readonly argumentsDigest: string;
}

/** The edited arguments as they will run, or why they cannot. */
export function checkEdit(
  { call }: Proposal,
  command: EditApproval,
  contract: ToolContract | null,
  check: CheckInput | undefined,
): { readonly ok: true; readonly edit: Edit } | { readonly ok: false; readonly refusal: ApprovalRefusal } {
  if (call.effectClass === 'undo')
    return refuse('The arguments of an undo follow from the call that it takes back: they cannot be edited.');
  if (!contract || !check) return refuse('The contract of the call cannot be read: its arguments cannot be edited.');
  if (Buffer.byteLength(JSON.stringify(command.arguments)) > MAX_ARGUMENTS_BYTES)
    return refuse(`The arguments are larger than ${MAX_ARGUMENTS_BYTES} bytes.`, [
      { path: '/arguments', rule: 'maxBytes' },
    ]);
  const checked = check(command.arguments);
  if (!checked.ok) return refuse(`The arguments do not fit the contract of ${call.tool}.`, below(checked.details));
  const args = checked.arguments;
  const evidence = foreignEvidence(contract.evidenceArgument, args, call.arguments);
  if (evidence.length > 0) return refuse('An edit cites only what the proposal cited.', evidence);
  const argumentsDigest = digestArguments(call.tool, call.contractDigest, args);
  if (argumentsDigest === call.argumentsDigest)
    return refuse('These are the arguments that were asked about: approve or reject them.', [
      { path: '/arguments', rule: 'different' },
    ]);
  return { ok: true, edit: { arguments: args, argumentsDigest } };
}

const refuse = (message: string, details: readonly ErrorDetail[] = []): { ok: false; refusal: ApprovalRefusal } => ({
  ok: false,
  refusal: { code: 'INVALID_ARGS', message, details: details as ApprovalRefusal['details'] },
});

const below = (details: readonly ErrorDetail[]): ErrorDetail[] =>
  details.map((detail) => ({ ...detail, path: `/arguments${detail.path}` }));

function foreignEvidence(
  name: string | undefined,
  args: Readonly<Record<string, unknown>>,
  proposed: Readonly<Record<string, unknown>>,
): ErrorDetail[] {
  if (name === undefined || args[name] === undefined) return [];
  const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
  const known = new Set(listed(proposed[name]));
  return listed(args[name]).every((item) => known.has(item))
    ? []
    : [{ path: `/arguments/${name}`, rule: 'evidence', message: 'cites what the proposal did not cite' }];
}
