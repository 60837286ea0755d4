import { fileURLToPath } from 'node:url';
import { checkPublishable } from '#registry';
import { loadWorkspace, neededEnv, type Workspace } from '#tools';
import { checkPolicies, readPolicyFiles } from '../apps/policy/src/adapters/read-policies.ts';

const FOLDERS = ['incident-triage', 'research', 'refund'].map((name) =>
  fileURLToPath(new URL(`${name}/`, import.meta.url)),
);
const twice = (names: readonly string[]): string[] => names.filter((name, index) => names.indexOf(name) !== index);

describe('the examples in one installation', () => {
  let workspaces: Workspace[];
  beforeAll(async () => {
    workspaces = [];
    for (const folder of FOLDERS) workspaces.push(await loadWorkspace(folder));
  });

  it('share no tool, no agent and no setting, so that a model of one never sees the tools of another', () => {
    const contracts = workspaces.flatMap(({ tools }) => tools.map(({ contract }) => contract));
    expect(() => checkPublishable(...contracts)).not.toThrow();
    expect(twice(contracts.map(({ namespace, name }) => `${namespace}.${name}`))).toEqual([]);
    expect(twice(workspaces.flatMap(({ agents }) => agents.map(({ name }) => name)))).toEqual([]);
    const settings = workspaces.map(({ tools }) => [...new Set(tools.flatMap(({ contract }) => neededEnv(contract)))]);
    expect(settings).toEqual([['INCIDENTS_URL'], ['RESEARCH_URL'], ['ORDERS_URL']]);
  });

  it('have policies that stand beside each other and beside the default pack', () => {
    const ids = Object.keys(checkPolicies(readPolicyFiles(FOLDERS)));
    expect(ids.filter((id) => !id.startsWith('default/'))).toEqual([
      'incident-triage/incident-tickets/incident-tickets-need-a-person',
      'research/drafts/drafts-need-a-person',
      'refund/refund-limits/drafts-move-no-money',
      'refund/refund-limits/no-draft-above-the-limit',
      'refund/refund-limits/small-refunds-run',
      'refund/refund-limits/no-refund-above-the-limit',
    ]);
  });
});
