import { type Command } from 'commander';
import { tokenOption, urlOption, type CliConfig } from './cli.config.ts';
import { GatewayClient } from './client/gateway-client.ts';
import { EXIT_CODES_HELP } from './exit-codes.ts';
import { Output } from './output/output.ts';

/** A command as its file describes it. */
export interface CommandText {
  /** Name and arguments, such as `show <run>`. */
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
}

interface GatewayOptions {
  readonly url: string;
  readonly token?: string;
  readonly json: boolean;
}

/** Adds a command that prints for people, or JSON. */
export function addCommand(parent: Command, { usage, summary, examples }: CommandText): Command {
  return parent
    .command(usage)
    .description(summary)
    .option('--json', 'print JSON', false)
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}\n${EXIT_CODES_HELP}`);
}

/** Adds a command that talks to the gateway. */
export const addGatewayCommand = (parent: Command, text: CommandText): Command =>
  addCommand(parent, text).addOption(urlOption()).addOption(tokenOption());

/** What the action of a gateway command works with. */
export const openGateway = (
  config: CliConfig,
  { url, token, json }: GatewayOptions,
): { readonly client: GatewayClient; readonly out: Output } => ({
  client: new GatewayClient(url, token),
  out: new Output({ json, noColour: config.noColour }),
});

export type { GatewayOptions };
