import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { CliConfig } from '../../cli.config.ts';
import { GatewayClient } from '../../client/gateway-client.ts';
import type { ToolView } from '../../client/views.ts';
import { EXIT, usageFailure } from '../../exit-codes.ts';
import { addCommand } from '../../gateway-command.ts';
import { filled, wholeNumber } from '../../option-parsers.ts';
import { Output } from '../../output/output.ts';
import { checkWorkspace, missingTools, type CheckedWorkspace } from '../../workspace/check-workspace.ts';
import { openDevInstallation, type DevInstallation } from './dev-installation.ts';
import { devScreen, credentialsOf } from './dev-screen.ts';
import { DevServer } from './dev-server.ts';
import { FolderWatch } from './folder-watch.ts';

interface DevOptions {
  readonly port: number;
  readonly dataDir: string;
  readonly json: boolean;
}

export function addDev(program: Command, config: CliConfig): void {
  addCommand(program, {
    usage: 'dev',
    summary: 'run everything in one process on a workspace folder, and again whenever the workspace changes',
    examples: [
      'countersign dev my-workspace',
      'countersign dev my-workspace --port 0 --json   # JSON lines: faults, starting, ready, failed',
      'COUNTERSIGN_DATABASE_URL=postgresql://… countersign dev my-workspace',
    ],
  })
    .argument('[folder]', 'the workspace: tools/*.ts|yaml, policies/*.cedar, agents/*.yaml', filled, '.')
    .option('--port <n>', "port of the gateway's HTTP API; 0 = any free one", wholeNumber(0, 65_535), 8080)
    .option('--data-dir <folder>', 'where database and logs are kept', filled, '.countersign/dev')
    .action(async (folder: string, options: DevOptions) => {
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
        throw usageFailure(`${folder} is not a folder: name a workspace with tools/, policies/ and agents/`);
      await runDev(path.resolve(folder), options, config);
    });
}

async function runDev(folder: string, options: DevOptions, config: CliConfig): Promise<void> {
  const out = new Output({ json: options.json, noColour: config.noColour });
  const tenant = config.env.COUNTERSIGN_DEV_TENANT || 'dev';
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  out.progress('starting …');
  const installation = await openDevInstallation({
    folder,
    port: options.port,
    dataDir: options.dataDir,
    env: config.env,
    onRestart: () => out.note(`the services ended by themselves and are started again; see ${installation.logFile}`),
  });
  const screen = devScreen(out, { installation, folder, tenant, env: config.env });
  const server = new DevServer({
    check: () => checkWorkspace(folder, config.env),
    compare: (workspace) => compareWithLive(installation, tenant, workspace),
    start: () => installation.start(),
    onEvent: screen,
  });
  try {
    const watch = new FolderWatch(folder);
    await watch.begin();
    await server.reload();
    while (!stopping.signal.aborted) {
      const changed = await watch.changed(stopping.signal);
      if (changed.length === 0) break;
      out.line(out.paint('dim', `changed: ${changed.join(', ')}`));
      await server.reload();
    }
    out.progress('stopping …');
  } finally {
    await server.stop();
    await installation.close();
    out.progress(null);
  }
  process.exitCode = EXIT.ok;
}

/** A published version never changes, and an agent may name only tools that are there: both stop a start, so they are told before it. */
async function compareWithLive(
  installation: DevInstallation,
  tenant: string,
  workspace: CheckedWorkspace,
): Promise<string[]> {
  const client = new GatewayClient(installation.url, credentialsOf(tenant).agent);
  const live = (await client.get<{ items: ToolView[] }>('/v1/tools')).items;
  const changed = workspace.tools.filter((tool) =>
    live.some((other) => other.tool === tool.tool && other.version === tool.version && other.digest !== tool.digest),
  );
  return [
    ...changed.map(
      ({ tool, version }) =>
        `tools: ${tool}@${version} was published with other content; raise its version (a published version never changes)`,
    ),
    ...missingTools(
      workspace,
      live.flatMap(({ tool, version }) => [tool, `${tool}@${version}`]),
    ),
  ];
}
