import type { ApprovalRefused } from '#contracts';
import type { Caller } from '../domain/caller.ts';
import type { DecisionRequest } from '../domain/requests.schema.ts';
import type { View } from '../domain/views.ts';
import type { Watch } from './watchers.ts';

/** What became of a person's command about an approval. */
export const DONE = Symbol('done');
export type Outcome = typeof DONE | Pick<ApprovalRefused, 'code' | 'message' | 'details'>;

const ANSWERS = ['ApprovalDecided', 'ApprovalCounted', 'ApprovalEdited', 'ApprovalWithdrawn'] as const;

export function outcomeIn(watch: Watch, key: string): Outcome | undefined {
  if (ANSWERS.some((type) => watch.get(key, type))) return DONE;
  return watch.get(key, 'ApprovalRefused')?.data;
}

export const rolesOf = (view: View): string[] =>
  Array.isArray(view.approverRoles) ? (view.approverRoles as string[]) : [];

/** Is it this person who decided, or was counted for, exactly this? */
export function decidedSo(view: View, caller: Caller, request: DecisionRequest): boolean {
  const { id } = caller.principal;
  if (view.digest !== request.digest) return false;
  if (view.status === 'pending') return request.decision === 'approved' && hasApproved(view, id);
  const status = view.status === 'consumed' ? 'approved' : view.status;
  return (
    status === request.decision && (idOf(view.decidedBy) === id || (status === 'approved' && hasApproved(view, id)))
  );
}

const hasApproved = ({ approvedBy }: View, id: string): boolean =>
  Array.isArray(approvedBy) && (approvedBy as string[]).includes(id);

export const withdrawnBy = (view: View, caller: Caller): boolean =>
  view.status === 'withdrawn' && idOf(view.decidedBy) === caller.principal.id;

export const editedBy = (view: View, caller: Caller): boolean =>
  view.supersededWhy === 'edited' && idOf(view.decidedBy) === caller.principal.id;

const idOf = (by: unknown): string | undefined =>
  typeof by === 'string' ? by : (by as { id?: string } | null | undefined)?.id;

export const otherwise = (view: View): Outcome => ({
  code: view.status === 'expired' ? 'APPROVAL_EXPIRED' : 'IDEMPOTENCY_CONFLICT',
  message: `The approval is ${String(view.status)} already`,
});
