import type { ApprovalView } from '../../client/views.ts';
import type { Output } from '../../output/output.ts';
import { printable, printableLine } from '../../output/printable.ts';
import { toneOf } from '../../output/tones.ts';

/** Exactly what will run, and why a person is asked. */
export function printApproval(out: Output, approval: ApprovalView): void {
  out.fields([
    ['approval', approval.approvalId],
    ['status', approval.status, toneOf(approval.status)],
    ['tool', approval.tool],
    ['risk', approval.risk],
    ['side effects', approval.sideEffects],
    ['resources', approval.resources.join(', ')],
    ['asked for by', approval.requester.id],
    ['because of', approval.reasons.join(', ')],
    ['who may decide', approval.approverRoles.join(', ')],
    ['needs', approval.quorum > 1 ? `${approval.quorum} approvals, has ${approval.approvedBy.length}` : null],
    ['approved by', approval.approvedBy.join(', ')],
    ['superseded', approval.supersededWhy && approval.supersededWhy.replaceAll('_', ' ')],
    ['replaced by', approval.replacedBy],
    ['replaced by call', approval.replacedByCall],
    ['arguments by', approval.edited && `${approval.edited.by}, in the place of ${approval.edited.callId}`],
    ['run', approval.runId],
    ['call', approval.callId],
    ['expires', approval.expiresAt],
    ['decided by', approval.decidedBy && `${approval.decidedBy}, ${approval.decidedAt ?? ''}`],
    ['reason', approval.reason],
    ['digest', approval.digest],
  ]);
  out.line();
  out.line(out.paint('strong', 'Exactly this will run'));
  out.line(`  ${printable(JSON.stringify(approval.arguments, null, 2)).replaceAll('\n', '\n  ')}`);
  if (approval.facts) {
    out.line(out.paint('strong', 'What was read of it; it runs only if that is still so'));
    for (const [name, value] of Object.entries(approval.facts.values))
      out.line(`  ${name}: ${printableLine(String(value))}`);
  }
  const origins = Object.entries(approval.origins);
  if (origins.length === 0) return;
  out.line(out.paint('strong', 'Where it comes from'));
  for (const [path, origin] of origins) out.line(`  ${printableLine(path || '/')} ← ${printableLine(origin)}`);
}
