import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { putTool } from '../../client/put-tool.ts';
import { CommandFailure, EXIT, usageFailure } from '../../exit-codes.ts';
import { addGatewayCommand, openGateway, type GatewayOptions } from '../../gateway-command.ts';
import { filled } from '../../option-parsers.ts';
import { printableLine } from '../../output/printable.ts';
import {
  checkWorkspace,
  missingTools,
  type CheckedTool,
  type CheckedWorkspace,
} from '../../workspace/check-workspace.ts';

interface ApplyOptions extends GatewayOptions {
  readonly filename: string;
  readonly dryRun: boolean;
}

/** `live`: published and what ns.name means; `published`: there, but another version is live; `conflict`: this version was published with other content; `pending_review`: it waits for a second publisher. */
type State = 'new' | 'live' | 'published' | 'conflict' | 'pending_review';

interface ComparedTool extends CheckedTool {
  readonly state: State;
}

/** What a contract does not carry. */
const LOCAL =
  'its code runs where an executor has this workspace: name the folder in COUNTERSIGN_WORKSPACES of the pool and restart it';
const NOT_OVER_THE_API =
  'are not published over the API: they count where policy and the gateway start with this folder in COUNTERSIGN_WORKSPACES';

export function addApply(program: Command, config: CliConfig): void {
  addGatewayCommand(program, {
    usage: 'apply',
    summary:
      'check a workspace and publish the contracts of its tools; with --dry-run compare only. Policies and agents are checked, not published. Exit 0: all tools are published',
    examples: ['countersign apply -f my-workspace', 'countersign apply -f my-workspace --dry-run --json'],
  })
    .requiredOption(
      '-f, --filename <path>',
      'a workspace folder, or a file in its tools/, policies/ or agents/',
      filled,
    )
    .option('--dry-run', 'publish nothing: say what is live and what would be published', false)
    .action(async ({ filename, dryRun, ...options }: ApplyOptions) => {
      const { client, out } = openGateway(config, options);
      const checked = await checkWorkspace(workspaceOf(filename), config.env);
      const compared = checked.ok ? await compare(client, checked.workspace.tools) : [];
      const faults = checked.ok
        ? [
            ...missingTools(checked.workspace, await liveTools(client)),
            ...compared.filter(({ state }) => state === 'conflict').map(conflictText),
          ]
        : checked.faults;
      const valid = faults.length === 0;
      const tools = dryRun || !valid ? compared : await publishNew(client, compared);
      const live = valid && tools.every(({ state }) => state === 'live' || state === 'published');
      const notes = checked.ok && valid ? notesOf(checked.workspace) : [];
      out.document({ valid, live, published: !dryRun && live, tools: tools.map(shown), notes, faults });
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
      for (const note of notes) out.line(out.paint('dim', printableLine(note)));
      out.line(live ? out.paint('good', 'all tools are published') : out.paint('wait', notLive(tools, dryRun)));
      process.exitCode = live ? EXIT.ok : EXIT.failed;
    });
}

/** Publishes what is new; what stands there already is left alone. */
async function publishNew(client: GatewayClient, tools: readonly ComparedTool[]): Promise<ComparedTool[]> {
  const done: ComparedTool[] = [];
  for (const tool of tools) {
    if (tool.state !== 'new') done.push(tool);
    else {
      const { state, live } = await putTool(client, tool.contract);
      done.push({ ...tool, state: state === 'pending_review' ? state : live ? 'live' : 'published' });
    }
  }
  return done;
}

const shown = ({ contract: _contract, ...tool }: ComparedTool): Omit<ComparedTool, 'contract'> => tool;

function notesOf({ tools, policies, agents }: CheckedWorkspace): string[] {
  const local = tools.filter(({ kind }) => kind === 'local').map(({ tool, version }) => `${tool}@${version}`);
  const rest = [
    ...policies.map((name) => `policies/${name}.cedar`),
    ...agents.map(({ name }) => `the agent ${name}`),
  ].join(', ');
  return [...local.map((tool) => `${tool}: ${LOCAL}`), ...(rest === '' ? [] : [`${rest} ${NOT_OVER_THE_API}`])];
}

const notLive = (tools: readonly ComparedTool[], dryRun: boolean): string =>
  dryRun
    ? 'not published yet: without --dry-run it would be'
    : `waiting for a second publisher: ${tools.filter(({ state }) => state === 'pending_review').length} tool(s); see "countersign tools reviews"`;

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
