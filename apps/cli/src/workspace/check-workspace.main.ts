import diagnostics from 'node:diagnostics_channel';
import path from 'node:path';
import { CountersignError, IMPORT_CHANNEL, type ImportNews } from '#kernel';
import { toolKey } from '#contracts';
import { publishFaults } from '#registry';
import { loadWorkspace, neededEnv, type Workspace } from '#tools';
import { checkPolicies, readPolicyFiles } from '../../../policy/src/policy.module.ts';
import type { CheckedWorkspace, CheckMessage } from './check-workspace.ts';

/**
 * Checks one workspace in a process of its own, because its modules may do anything, and because a module that was
 * imported once stays as it was. Argument: the folder. Answers by messages to its parent.
 */
const folder = path.resolve(process.argv[2]!);
const tell = (message: CheckMessage): void => void process.send!(message);
diagnostics.subscribe(IMPORT_CHANNEL, (message) => {
  const { file, state } = message as ImportNews;
  if (state === 'begun') tell({ type: 'importing', file: path.relative(folder, file) });
});

async function check(): Promise<CheckMessage> {
  const workspace = await loadWorkspace(folder);
  const faults = [...contractFaults(workspace), ...policyFaults()];
  return faults.length > 0 ? { type: 'faults', faults } : { type: 'checked', workspace: summaryOf(workspace) };
}

const contractFaults = (workspace: Workspace): string[] =>
  workspace.tools.flatMap(({ contract }) =>
    publishFaults(contract).map(({ path: place, message }) => `tools: ${toolKey(contract)} ${place}: ${message}`),
  );

function policyFaults(): string[] {
  try {
    checkPolicies(readPolicyFiles([folder]));
    return [];
  } catch (error) {
    return faultsOf(error);
  }
}

/** The libraries tell all faults in one message, one a line. */
function faultsOf(error: unknown): string[] {
  if (!(error instanceof CountersignError)) throw error;
  const lines = error.message.split('\n').filter((line) => line.startsWith('  - '));
  const own = `${folder}${path.sep}`;
  return lines.length === 0 ? [error.message] : lines.map((line) => line.slice(4).replaceAll(own, ''));
}

const summaryOf = ({ name, dir, tools, policies, agents }: Workspace): CheckedWorkspace => ({
  name,
  dir,
  tools: tools.map(({ contract, digest }) => ({
    tool: `${contract.namespace}.${contract.name}`,
    version: contract.version,
    digest,
    layer: contract.layer,
    kind: contract.execution.kind,
    contract,
    needsEnv: neededEnv(contract),
  })),
  policies: policies.map(({ id }) => id),
  agents: agents.map(({ name: agent, model, toolset }) => ({ name: agent, model, toolset })),
});

try {
  tell(await check());
} catch (error) {
  tell({ type: 'faults', faults: faultsOf(error) });
}
process.disconnect();
