import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { toolKey, type ToolContract } from '#contracts';
import { defineContract } from '#tools';
import type { CliConfig } from '../../cli.config.ts';
import { putTool } from '../../client/put-tool.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { printableLine } from '../../output/printable.ts';

export function addPublishTool(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'publish',
    summary:
      'publish one contract (YAML or JSON). Exit 0: it is published; 1: it waits for a reviewer, or the version stands with other content',
    examples: ['countersign tools publish my-workspace/tools/create-ticket.yaml'],
  })
    .argument('<file>', 'the contract; tools in TypeScript are published with their workspace by "countersign apply"')
    .action(async (file: string, options: GatewayOptions) => {
      const { client, out } = openGateway(config, options);
      const contract = readContract(file);
      const published = await putTool(client, contract);
      out.document(published);
      const pending = published.state === 'pending_review';
      out.line(out.paint(pending ? 'wait' : 'good', `${toolKey(contract)} ${published.state} (${published.change})`));
      if (published.note !== null) out.note(printableLine(published.note));
      process.exitCode = pending ? EXIT.failed : EXIT.ok;
    });
}

function readContract(file: string): ToolContract {
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8'), { maxAliasCount: 20 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageFailure(
      `${file} ${code === undefined ? `is not YAML or JSON: ${message}` : `cannot be read (${code})`}`,
    );
  }
  try {
    return defineContract(document).contract;
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `${file}: ${(error as Error).message}`, { cause: error });
  }
}
