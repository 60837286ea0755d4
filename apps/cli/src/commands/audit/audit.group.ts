import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addTailAudit } from './tail-audit.command.ts';
import { addProveAudit } from './prove-audit.command.ts';
import { addVerifyAudit } from './verify-audit.command.ts';

export function addAudit(program: Command, config: CliConfig): void {
  const group = program
    .command('audit')
    .helpCommand(false)
    .description('read the audit, and prove that nothing is missing or changed');
  for (const add of [addTailAudit, addVerifyAudit, addProveAudit]) add(group, config);
}
