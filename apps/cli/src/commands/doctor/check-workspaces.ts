import path from 'node:path';
import type { Environment } from '#runtime';
import { checkWorkspace, type CheckedWorkspace } from '../../workspace/check-workspace.ts';
import type { Finding } from './finding.ts';

/** Each workspace as the services will read it; what its contracts need of the environment. */
export async function checkWorkspaces(env: Environment, given: string | undefined): Promise<Finding[]> {
  const folders =
    given === undefined ? (env.COUNTERSIGN_WORKSPACES ?? '').split(',').flatMap((part) => part.trim() || []) : [given];
  if (folders.length === 0)
    return [
      { check: 'workspaces', state: 'skipped', found: 'COUNTERSIGN_WORKSPACES is not set, and no --workspace given' },
    ];
  const findings: Finding[] = [];
  for (const folder of folders) {
    const check = `workspace ${path.basename(path.resolve(folder))}`;
    const result = await checkWorkspace(folder, env);
    if (result.ok) findings.push(contentOf(check, result.workspace), ...missingEnv(check, result.workspace, env));
    else
      findings.push(
        ...result.faults.map((fault): Finding => ({
          check,
          state: 'wrong',
          found: fault,
          remedy: 'mend it; the services do not start with this workspace',
        })),
      );
  }
  return findings;
}

const contentOf = (check: string, { tools, policies, agents }: CheckedWorkspace): Finding => ({
  check,
  state: 'ok',
  found: `${tools.length} tools, ${policies.length} policies, ${agents.length} agents`,
});

function missingEnv(check: string, { tools }: CheckedWorkspace, env: Environment): Finding[] {
  const missing = [...new Set(tools.flatMap(({ needsEnv }) => needsEnv))].filter((name) => !env[name]);
  return missing.map((name) => ({
    check,
    state: 'wrong',
    found: `contracts name \${${name}}, which is not set`,
    remedy: `set ${name} in the environment of the executor`,
  }));
}
