import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addApprove, addReject } from './decide-approval.command.ts';
import { addEdit } from './edit-approval.command.ts';
import { addListApprovals } from './list-approvals.command.ts';
import { addShowApproval } from './show-approval.command.ts';
import { addStanding } from './standing.group.ts';
import { addWithdraw } from './withdraw-approval.command.ts';

export function addApprovals(program: Command, config: CliConfig): void {
  const group = program
    .command('approvals')
    .helpCommand(false)
    .description('see what waits for a person, and decide it');
  for (const add of [addListApprovals, addShowApproval, addApprove, addReject, addEdit, addWithdraw, addStanding])
    add(group, config);
}
