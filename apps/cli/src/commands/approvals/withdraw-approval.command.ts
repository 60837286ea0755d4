import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { ApprovalView } from '../../client/views.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { approvalId, filled } from '../../option-parsers.ts';

interface WithdrawOptions extends GatewayOptions {
  readonly reason?: string;
}

export function addWithdraw(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'withdraw',
    summary: 'take back what you asked for; its call ends as cancelled',
    examples: ['countersign approvals withdraw appr_01kb… --reason "no longer needed"'],
  })
    .argument('<approval>', 'id of the approval', approvalId)
    .option('--reason <text>', 'why', filled)
    .action(async (id: string, { reason, ...options }: WithdrawOptions) => {
      const { client, out } = openGateway(config, options);
      const body = reason ? { reason } : {};
      const ended = await client.post<ApprovalView>(`/v1/approvals/${id}/withdraw`, body, { key: `withdraw-${id}` });
      out.document(ended);
      out.line(`${ended.approvalId} is ${ended.status}; nothing was done`);
    });
}
