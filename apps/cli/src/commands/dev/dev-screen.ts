import path from 'node:path';
import type { Environment } from '#runtime';
import type { Output } from '../../output/output.ts';
import { printableLine } from '../../output/printable.ts';
import type { CheckedWorkspace } from '../../workspace/check-workspace.ts';
import type { DevInstallation } from './dev-installation.ts';
import type { DevEvent } from './dev-server.ts';

/** Credentials that development mode accepts; the second person is there because nobody approves the own request. */
export const credentialsOf = (tenant: string): Readonly<Record<'agent' | 'approver' | 'operator', string>> => ({
  agent: `dev.${tenant}.alice.agent`,
  approver: `dev.${tenant}.bob.approver`,
  operator: `dev.${tenant}.olga.operator+auditor`,
});

export interface DevSurroundings {
  readonly installation: Pick<DevInstallation, 'url' | 'databaseUrl' | 'logFile'>;
  readonly folder: string;
  readonly tenant: string;
  readonly env: Environment;
}

/** Tells what happens: text for people, or a JSON line for each event. */
export function devScreen(out: Output, surroundings: DevSurroundings): (event: DevEvent) => void {
  const { installation, tenant } = surroundings;
  return (event) => {
    out.progress(null);
    switch (event.type) {
      case 'faults':
        out.jsonLine(event);
        out.line(out.paint('bad', 'the workspace has faults:'));
        for (const fault of event.faults) out.line(`  - ${printableLine(fault)}`);
        out.line(
          out.paint(
            'wait',
            event.running ? 'the old workspace keeps running' : 'nothing runs yet: waiting for a change',
          ),
        );
        return;
      case 'starting':
        out.jsonLine(event);
        return out.progress(event.again ? 'reloading …' : 'starting …');
      case 'failed':
        out.jsonLine(event);
        out.line(out.paint('bad', 'the services did not start:'));
        out.line(`  ${event.message.replaceAll('\n', '\n  ')}`);
        return out.line(out.paint('wait', 'nothing runs: waiting for a change'));
      case 'ready': {
        const { url, databaseUrl, logFile } = installation;
        out.jsonLine({ ...event, url, databaseUrl, logFile, credentials: credentialsOf(tenant) });
        out.line(`${out.paint('good', event.again ? 'reloaded' : 'ready')}: ${contentOf(event.workspace)}`);
        for (const warning of warningsOf(event.workspace, surroundings.env))
          out.line(out.paint('wait', `! ${warning}`));
        return event.again ? undefined : printNextSteps(out, surroundings, event.workspace);
      }
    }
  };
}

const contentOf = ({ name, tools, policies, agents }: CheckedWorkspace): string =>
  `${name} with ${tools.length} tools, ${policies.length} policies, ${agents.length} agents`;

function warningsOf({ tools, agents }: CheckedWorkspace, env: Environment): string[] {
  const missing = [...new Set(tools.flatMap(({ needsEnv }) => needsEnv))].filter((name) => !env[name]);
  return [
    ...missing.map(
      (name) => `contracts name \${${name}}, which is not set: their calls will fail; set it and start again`,
    ),
    ...(agents.length > 0 && !env.OPENAI_API_KEY
      ? ['OPENAI_API_KEY is not set: runs of agents will fail; calls that you propose yourself work']
      : []),
  ];
}

function printNextSteps(
  out: Output,
  { installation, folder, tenant }: DevSurroundings,
  workspace: CheckedWorkspace,
): void {
  const { agent, approver, operator } = credentialsOf(tenant);
  const { url, databaseUrl, logFile } = installation;
  out.line();
  out.fields([
    ['API', url],
    ['agent', agent],
    ['approver', approver],
    ['operator', operator],
    ['database', databaseUrl],
    ['log', path.relative('.', logFile)],
    ['watching', `${path.relative('.', folder) || '.'}/{tools,policies,agents}`],
  ]);
  const first = workspace.agents[0]?.name;
  out.line();
  out.line(out.paint('strong', 'Next, in another terminal'));
  out.line(`  export COUNTERSIGN_URL=${url} COUNTERSIGN_TOKEN=${agent}`);
  out.line('  countersign tools list');
  if (first !== undefined) out.line(`  countersign runs start ${first} "your task" --watch`);
  out.line(`  COUNTERSIGN_TOKEN=${approver} countersign approvals list`);
  out.line(`  COUNTERSIGN_TOKEN=${operator} countersign audit tail`);
  out.line();
  out.line(out.paint('dim', 'Change a file and it is loaded again. Ctrl-C stops.'));
}
