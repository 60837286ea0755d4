import type { Command } from 'commander';
import type { ToolContract } from '#contracts';
import type { CliConfig } from '../../cli.config.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import type { Output } from '../../output/output.ts';
import { printable } from '../../output/printable.ts';
import { toolName } from './tool-name.ts';

interface ToolAnswer {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly live: boolean;
  readonly contract: Partial<ToolContract>;
}

export function addShowTool(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'show',
    summary: 'show the contract of a tool',
    examples: ['countersign tools show desk.create_ticket', 'countersign tools show desk.create_ticket@1.0.0 --json'],
  })
    .argument('<tool>', 'ns.name for the live version, or ns.name@version', toolName)
    .action(async (name: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const tool = await client.get<ToolAnswer>(`/v1/tools/${encodeURIComponent(name)}`);
      out.document(tool);
      printTool(out, tool);
    });
}

function printTool(out: Output, { tool, version, digest, live, contract }: ToolAnswer): void {
  const { approval, idempotency, timeoutMs } = contract;
  out.fields([
    ['tool', `${tool}@${version}${live ? '' : ' (not live)'}`],
    ['title', contract.title],
    ['layer', contract.layer],
    ['side effects', contract.sideEffects],
    ['risk', contract.risk],
    ['approval', approval?.mode],
    ['idempotency', idempotency?.mode],
    ['timeout', timeoutMs === undefined ? null : `${timeoutMs} ms`],
    ['resources', contract.resources?.join(', ')],
    ['description', contract.description],
    ['when to use', contract.whenToUse],
    ['not to use', contract.whenNotToUse],
    ['digest', digest],
  ]);
  for (const [title, schema] of [
    ['Input', contract.input],
    ['Output', contract.output],
  ] as const) {
    if (schema === undefined) continue;
    out.line();
    out.line(out.paint('strong', title));
    out.line(printable(JSON.stringify(schema, null, 2)));
  }
}
