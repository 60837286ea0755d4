import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { ApprovalView } from '../../client/views.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { approvalId, digest, filled } from '../../option-parsers.ts';
import type { Output } from '../../output/output.ts';
import { printApproval } from './approval-text.ts';

/**
 * A person's decision.
 * D1 what is decided is what was shown: the decision names the digest of the approval that was printed, or the one given by --digest;
 * D2 nothing is decided without a yes: at the terminal, or by --yes together with --digest; who breaks off decides nothing.
 */
interface DecideOptions extends GatewayOptions {
  readonly digest?: string;
  readonly reason?: string;
  readonly yes: boolean;
}

type Decision = 'approved' | 'rejected';

export function addApprove(group: Command, config: CliConfig): void {
  addDecision(group, config, 'approve', 'approved', [
    'countersign approvals approve appr_01kb…                     # shows it, asks, asks for a reason',
    'countersign approvals approve appr_01kb… --yes --digest sha256:… --reason "checked with the customer"',
  ]);
}

export function addReject(group: Command, config: CliConfig): void {
  addDecision(group, config, 'reject', 'rejected', ['countersign approvals reject appr_01kb… --reason "wrong order"']);
}

function addDecision(
  group: Command,
  config: CliConfig,
  verb: string,
  decision: Decision,
  examples: readonly string[],
): void {
  addGatewayCommand(group, { usage: verb, summary: `${verb} what waits; it is shown first`, examples })
    .argument('<approval>', 'id of the approval', approvalId)
    .option('--digest <digest>', 'decide only if it still has this digest', digest)
    .option('--reason <text>', 'why; stands in the audit', filled)
    .option('--yes', 'do not ask; needs --digest', false)
    .action(async (id: string, options: DecideOptions) => {
      const { client, out } = openGateway(config, options);
      if (options.yes && options.digest === undefined)
        throw usageFailure('--yes needs --digest: name what you saw by "countersign approvals show"');
      if (!options.yes && !out.interactive)
        throw usageFailure('there is no terminal to ask: give --yes and --digest (of "countersign approvals show")');
      const approval = await client.get<ApprovalView>(`/v1/approvals/${id}`);
      checkDigest(approval, options.digest);
      printApproval(out, approval);
      const reason = options.yes ? options.reason : await agreed(out, verb, options.reason);
      const body = { decision, digest: approval.digest, ...(reason ? { reason } : {}) };
      const key = `${verb}-${id}-${approval.digest.slice(-16)}`;
      const decided = await client.post<ApprovalView>(`/v1/approvals/${id}/decision`, body, { key });
      out.document(decided);
      out.line();
      const { status, quorum, approvedBy, decidedBy } = decided;
      const said =
        status === 'pending'
          ? `counted: ${approvedBy.length} of ${quorum} approvals`
          : `${decision} by ${decidedBy ?? 'you'}`;
      out.line(out.paint(decision === 'approved' ? 'good' : 'bad', said));
    });
}

function checkDigest(approval: ApprovalView, expected: string | undefined): void {
  if (expected === undefined || expected === approval.digest) return;
  throw new CommandFailure(
    EXIT.failed,
    `APPROVAL_MISMATCH: ${approval.approvalId} is not what --digest names (now ${approval.digest}); look at it again by "countersign approvals show"`,
    { code: 'APPROVAL_MISMATCH' },
  );
}

/** @returns the reason, if one is given */
async function agreed(out: Output, verb: string, given: string | undefined): Promise<string | undefined> {
  out.line();
  const nothing = new CommandFailure(EXIT.failed, 'nothing was decided');
  if (!(await out.confirm(`${verb[0]!.toUpperCase()}${verb.slice(1)} exactly this?`))) throw nothing;
  if (given !== undefined) return given;
  const reason = await out.ask('Reason (may be empty): ');
  if (reason === null) throw nothing;
  return reason || undefined;
}
