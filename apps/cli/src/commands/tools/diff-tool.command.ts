import { InvalidArgumentError, type Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { printDiff, type DiffView } from './diff-text.ts';
import { addressOf, toolName } from './tool-name.ts';

interface DiffOptions extends GatewayOptions {
  readonly against?: string;
}

export function addDiffTool(group: Command, config: CliConfig): void {
  addGatewayCommand(group, {
    usage: 'diff',
    summary: 'say what a version changes for those who use, judge and pay for the tool',
    examples: ['countersign tools diff desk.create_ticket --against 1.0.0', 'countersign tools diff desk.find@2.0.0'],
  })
    .argument('<tool>', 'ns.name@version, or ns.name for the live version', toolName)
    .option('--against <version>', 'the version before; default: the live one', version)
    .action(async (name: string, { against, ...options }: DiffOptions) => {
      const { client, out } = openGateway(config, options);
      const diff = await client.get<DiffView>(addressOf(name, '/diff'), { against });
      out.document(diff);
      printDiff(out, diff);
    });
}

function version(text: string): string {
  if (!/^\d+\.\d+\.\d+$/.test(text)) throw new InvalidArgumentError('Give a version such as 1.0.0.');
  return text;
}
