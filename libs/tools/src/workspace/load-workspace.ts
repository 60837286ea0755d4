import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import { issueDetails, toolKey } from '#contracts';
import { CountersignError, parseJson } from '#kernel';
import { defineContract, isDefinedTool, type DefinedTool } from '../define-tool.ts';
import { agentDefinitionSchema, type AgentDefinition } from './agent.schema.ts';
import { DEFAULT_IMPORT_LIMIT_MS, importModule, placeIn } from './import-module.ts';

/** A user's folder: `tools/*.ts|js|mjs|yaml|yml|json`, `policies/*.cedar`, `agents/*.yaml|yml|json`. */
export interface Workspace {
  /** The folder's own name. */
  readonly name: string;
  readonly dir: string;
  readonly tools: readonly DefinedTool[];
  readonly policies: readonly PolicyFile[];
  readonly agents: readonly AgentDefinition[];
}

export interface PolicyFile {
  /** The file's name without `.cedar`. */
  readonly id: string;
  readonly text: string;
}

const MODULE = /(?<!\.spec|\.test|\.d)\.(?:ts|mts|js|mjs)$/;
const DOCUMENT = /\.(?:yaml|yml|json)$/;
const POLICY = /\.cedar$/;
const MAX_FILE_BYTES = 1_048_576;

/**
 * Reads a workspace. Modules are imported as they are (Node strips the types), so they run with this process's rights:
 * load only folders that you trust.
 * @throws CountersignError INVALID_ARGS with every fault of every file in one message
 */
export function loadWorkspace(dir: string): Promise<Workspace> {
  return loadWorkspaceWithin(dir, DEFAULT_IMPORT_LIMIT_MS);
}

/** As `loadWorkspace`. @param importLimitMs milliseconds that one module may take to be imported */
export async function loadWorkspaceWithin(dir: string, importLimitMs: number): Promise<Workspace> {
  const root = path.resolve(dir);
  const faults = new Faults(root);
  if (!(await isFolder(root)))
    faults.add(root, 'the workspace folder does not exist; give a folder with tools/, policies/ and agents/');
  const tools = await loadTools(root, importLimitMs, faults);
  const policies = await loadPolicies(root, faults);
  const agents = await loadAgents(root, faults);
  if (faults.none && tools.length + policies.length + agents.length === 0) {
    faults.add(
      root,
      'the workspace is empty; put tools into tools/, Cedar policies into policies/, agents into agents/',
    );
  }
  faults.throwIfAny();
  return { name: path.basename(root), dir: root, tools, policies, agents };
}

class Faults {
  readonly #root: string;
  readonly #lines: string[] = [];
  constructor(root: string) {
    this.#root = root;
  }
  get none(): boolean {
    return this.#lines.length === 0;
  }
  add(file: string, message: string): void {
    this.#lines.push(`${path.relative(this.#root, file) || this.#root}: ${message}`);
  }
  throwIfAny(): void {
    if (this.none) return;
    throw new CountersignError(
      'INVALID_ARGS',
      `The workspace ${path.basename(this.#root)} has faults:\n${this.#lines.map((line) => `  - ${line}`).join('\n')}`,
    );
  }
}

async function loadTools(root: string, importLimitMs: number, faults: Faults): Promise<DefinedTool[]> {
  const where = new Map<string, string>();
  const tools: DefinedTool[] = [];
  for (const file of await filesOf(root, 'tools')) {
    const found = MODULE.test(file)
      ? await importTools(file, importLimitMs, faults)
      : DOCUMENT.test(file)
        ? await readContract(file, faults)
        : [];
    for (const tool of found) {
      const key = toolKey(tool.contract);
      const other = where.get(key);
      if (other !== undefined)
        faults.add(file, `defines ${key}, which ${path.basename(other)} defines too; give one of them another version`);
      else if (tool.contract.execution.kind === 'local' && !tool.handler)
        faults.add(
          file,
          `${key} is a local tool without a handler; pass one to defineTool, or use execution.kind "http"`,
        );
      else tools.push(tool);
      where.set(key, file);
    }
  }
  return tools;
}

async function importTools(file: string, importLimitMs: number, faults: Faults): Promise<DefinedTool[]> {
  try {
    const module = await importModule(file, importLimitMs);
    const tools = [...new Set(Object.values(module).filter(isDefinedTool))];
    if (tools.length === 0) faults.add(file, 'exports no tool; export what defineTool(…) returns');
    return tools;
  } catch (error) {
    faults.add(file, `${placeIn(file, error)}${reasonOf(error)}`);
    return [];
  }
}

async function readContract(file: string, faults: Faults): Promise<DefinedTool[]> {
  const document = await readDocument(file, faults);
  if (document === undefined) return [];
  try {
    return [defineContract(document)];
  } catch (error) {
    faults.add(file, reasonOf(error));
    return [];
  }
}

async function loadPolicies(root: string, faults: Faults): Promise<PolicyFile[]> {
  const policies: PolicyFile[] = [];
  for (const file of await filesOf(root, 'policies')) {
    if (!POLICY.test(file)) continue;
    const text = await readText(file, faults);
    if (text === undefined) continue;
    if (text.trim() === '') faults.add(file, 'is empty; write a Cedar policy or remove the file');
    else policies.push({ id: path.basename(file, '.cedar'), text });
  }
  return policies;
}

async function loadAgents(root: string, faults: Faults): Promise<AgentDefinition[]> {
  const agents = new Map<string, AgentDefinition>();
  for (const file of await filesOf(root, 'agents')) {
    if (!DOCUMENT.test(file)) continue;
    const document = await readDocument(file, faults);
    if (document === undefined) continue;
    const parsed = agentDefinitionSchema.safeParse(document);
    if (!parsed.success)
      for (const { path: place, message } of issueDetails(parsed.error.issues))
        faults.add(file, `${place || '/'}: ${message}`);
    else if (agents.has(parsed.data.name))
      faults.add(file, `the agent ${parsed.data.name} is defined twice; give it another name`);
    else agents.set(parsed.data.name, parsed.data);
  }
  return [...agents.values()];
}

async function readDocument(file: string, faults: Faults): Promise<unknown> {
  const text = await readText(file, faults);
  if (text === undefined) return undefined;
  try {
    return file.endsWith('.json') ? parseJson(text) : (parseYaml(text, { maxAliasCount: 20 }) as unknown);
  } catch (error) {
    faults.add(file, reasonOf(error));
    return undefined;
  }
}

async function readText(file: string, faults: Faults): Promise<string | undefined> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    faults.add(file, `cannot be read (${error.code}); make it readable, or remove it`);
  });
  if (bytes === undefined) return undefined;
  if (bytes.length > MAX_FILE_BYTES) {
    faults.add(file, `has ${bytes.length} bytes; ${MAX_FILE_BYTES} are allowed`);
    return undefined;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    faults.add(file, 'is not UTF-8');
    return undefined;
  }
}

async function filesOf(root: string, folder: string): Promise<string[]> {
  const directory = path.join(root, folder);
  if (!(await isFolder(directory))) return [];
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => path.join(directory, entry.name))
    .sort();
}

const isFolder = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** First line only: what a person needs to find the place. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
