import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled } from '../../option-parsers.ts';
import { printableLine } from '../../output/printable.ts';
import { checkWorkspace, missingTools, type CheckedTool } from '../../workspace/check-workspace.ts';

interface ApplyOptions extends GatewayOptions {
  readonly filename: string;
}

/** `live`: published and what ns.name means; `published`: there, but another version is live; `conflict`: this version was published with other content. */
type State = 'new' | 'live' | 'published' | 'conflict';

interface ComparedTool extends CheckedTool {
  readonly state: State;
}

const HOW = 'a gateway publishes workspaces when it starts: start it with COUNTERSIGN_WORKSPACES naming this folder';

export function addApply(program: Command, config: CliConfig): void {
  addGatewayCommand(program, {
    usage: 'apply',
    summary:
      'check a workspace and compare it with what is live. It publishes nothing: a gateway publishes its workspaces when it starts. Exit 0: all of it is live',
    examples: ['countersign apply -f my-workspace', 'countersign apply -f my-workspace/tools/create-ticket.ts --json'],
  })
    .requiredOption(
      '-f, --filename <path>',
      'a workspace folder, or a file in its tools/, policies/ or agents/',
      filled,
    )
    .action(async ({ filename, ...options }: ApplyOptions) => {
      const { client, out } = openGateway(config, options);
      const checked = await checkWorkspace(workspaceOf(filename), config.env);
      const tools = checked.ok ? await compare(client, checked.workspace.tools) : [];
      const faults = checked.ok
        ? [
            ...missingTools(checked.workspace, await liveTools(client)),
            ...tools.filter(({ state }) => state === 'conflict').map(conflictText),
          ]
        : checked.faults;
      const live = faults.length === 0 && tools.every(({ state }) => state === 'live' || state === 'published');
      out.document({ valid: faults.length === 0, live, published: false, tools, faults });
      out.table(
        [
          { title: 'TOOL', of: ({ tool }: ComparedTool) => tool },
          { title: 'VERSION', of: ({ version }) => version },
          { title: 'STATE', of: ({ state }) => state },
          { title: 'DIGEST', of: ({ digest }) => digest },
        ],
        tools,
        'no tools',
      );
      for (const fault of faults) out.line(out.paint('bad', `- ${printableLine(fault)}`));
      if (faults.length > 0) throw new CommandFailure(EXIT.failed, `the workspace has ${faults.length} fault(s)`);
      out.line(live ? out.paint('good', 'all of it is live') : out.paint('wait', `not live yet: ${HOW}`));
      process.exitCode = live ? EXIT.ok : EXIT.failed;
    });
}

const conflictText = ({ tool, version }: ComparedTool): string =>
  `tools: ${tool}@${version} was published with other content; raise its version (a published version never changes)`;

/** The folder itself, or that of a file in one of its three folders. */
function workspaceOf(filename: string): string {
  const found = statSync(filename, { throwIfNoEntry: false });
  if (!found) throw usageFailure(`--filename: there is no ${filename}`);
  if (found.isDirectory()) return filename;
  const folder = path.dirname(path.resolve(filename));
  if (!['tools', 'policies', 'agents'].includes(path.basename(folder)))
    throw usageFailure(`--filename: ${filename} does not lie in the tools/, policies/ or agents/ of a workspace`);
  return path.dirname(folder);
}

const liveTools = async (client: GatewayClient): Promise<string[]> => {
  const { items } = await client.get<{ items: { tool: string; version: string }[] }>('/v1/tools');
  return items.flatMap(({ tool, version }) => [tool, `${tool}@${version}`]);
};

async function compare(client: GatewayClient, tools: readonly CheckedTool[]): Promise<ComparedTool[]> {
  const compared: ComparedTool[] = [];
  for (const tool of tools) compared.push({ ...tool, state: await stateOf(client, tool) });
  return compared;
}

async function stateOf(client: GatewayClient, { tool, version, digest }: CheckedTool): Promise<State> {
  try {
    const found = await client.get<{ digest: string; live: boolean }>(
      `/v1/tools/${encodeURIComponent(`${tool}@${version}`)}`,
    );
    if (found.digest !== digest) return 'conflict';
    return found.live ? 'live' : 'published';
  } catch (error) {
    if (error instanceof CommandFailure && (error.code === 'NOT_FOUND' || error.code === 'UNKNOWN_TOOL')) return 'new';
    throw error;
  }
}
