import { fork } from 'node:child_process';
import path from 'node:path';
import type { ToolContract } from '#contracts';
import type { Environment } from '#runtime';

/** What a workspace holds, once it was read without a fault. */
export interface CheckedWorkspace {
  readonly name: string;
  readonly dir: string;
  readonly tools: readonly CheckedTool[];
  readonly policies: readonly string[];
  readonly agents: readonly { readonly name: string; readonly model: string; readonly toolset: readonly string[] }[];
}

export interface CheckedTool {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly layer: string;
  /** `local`: its code is in the workspace, and runs where an executor has that. */
  readonly kind: 'local' | 'http';
  readonly contract: ToolContract;
  /** Environment variables that its contract names. */
  readonly needsEnv: readonly string[];
}

export type CheckMessage =
  | { readonly type: 'importing'; readonly file: string }
  | { readonly type: 'checked'; readonly workspace: CheckedWorkspace }
  | { readonly type: 'faults'; readonly faults: readonly string[] };

export type CheckResult =
  | { readonly ok: true; readonly workspace: CheckedWorkspace }
  /** Each names the file, the place and the remedy. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** Longer than the loader's own limit for one module: what it cannot end by itself blocks its process. */
const LIMIT_MS = 30_000;
const MAX_STDERR = 4_000;

/**
 * Reads a workspace as the services will, in a process of its own.
 * @param limitMs milliseconds after which a module that blocks the process is given up
 */
export function checkWorkspace(folder: string, env: Environment, limitMs = LIMIT_MS): Promise<CheckResult> {
  const main = path.join(import.meta.dirname, `check-workspace.main${path.extname(import.meta.filename)}`);
  const child = fork(main, [folder], { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let importing = '';
  let told = '';
  let result: CheckResult | undefined;
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (told = (told + text).slice(-MAX_STDERR)));
  child.on('message', (message: CheckMessage) => {
    if (message.type === 'importing') importing = message.file;
    else if (message.type === 'faults') result = { ok: false, faults: message.faults };
    else result = { ok: true, workspace: message.workspace };
  });
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
  return new Promise((resolve) => {
    child.once('error', (error) =>
      resolve({ ok: false, faults: [`the check could not be started: ${error.message}`] }),
    );
    child.once('close', (code, signal) => {
      clearTimeout(late);
      resolve(result ?? { ok: false, faults: [endOf(importing, told, code, signal, limitMs)] });
    });
  });
}

function endOf(
  importing: string,
  told: string,
  code: number | null,
  signal: NodeJS.Signals | null,
  limitMs: number,
): string {
  const file = importing || 'the workspace';
  if (signal === 'SIGKILL')
    return `${file}: its import blocked the process for ${limitMs / 1000} s; remove the endless loop at its top level`;
  const said = told.trim();
  if (said.includes('it ended the process')) return said.split('\n').at(-1)!;
  return `${file}: the process that read it ended (${signal ?? code})${said ? `: ${reasonIn(said)}` : ''}; look at what it does while it is imported`;
}

/** Node prints the place and the code before the error itself. */
const reasonIn = (text: string): string => /^\w*Error\b.*$/m.exec(text)?.[0] ?? text.split('\n')[0]!;

/** Tools that an agent of the workspace names, and that are neither there nor live. */
export function missingTools(workspace: CheckedWorkspace, live: readonly string[]): string[] {
  const known = new Set([...workspace.tools.flatMap(({ tool, version }) => [tool, `${tool}@${version}`]), ...live]);
  return workspace.agents.flatMap((agent) =>
    agent.toolset
      .filter((tool) => !known.has(tool))
      .map(
        (tool) =>
          `agents: ${agent.name} names the tool ${tool}, which is not published; correct its toolset, or define the tool in tools/`,
      ),
  );
}
