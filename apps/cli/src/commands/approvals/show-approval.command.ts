import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { ApprovalView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { approvalId } from '../../option-parsers.ts';
import { printApproval } from './approval-text.ts';

export function addShowApproval(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'show',
    summary: 'show exactly what will run, who asks and why a person decides',
    examples: ['countersign approvals show appr_01kb…'],
  })
    .argument('<approval>', 'id of the approval', approvalId)
    .action(async (id: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const approval = await client.get<ApprovalView>(`/v1/approvals/${id}`);
      out.document(approval);
      printApproval(out, approval);
    });
}
