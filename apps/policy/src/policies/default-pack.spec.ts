import { callProposed, contractOf, readContract, writeContract } from '../../testing/policy-fixture.ts';
import { CedarEngine } from '../adapters/cedar-engine.ts';
import { checkPolicies, readPolicyFiles } from '../adapters/read-policies.ts';
import type { CallProposed, ToolContract } from '#contracts';
import { judgeCall } from '../domain/judge-call.ts';

const engine = new CedarEngine(checkPolicies(readPolicyFiles([])));
const judge = (contract: ToolContract, data: Partial<CallProposed> = {}) =>
  judgeCall('dev', callProposed({ contract, data }).data, contract, engine.ask);
const modelDriven = { driver: 'agent', origins: { '/title': 'tool:*' } } as const;

describe('the default pack', () => {
  it('reads of the own tenant run unattended, whoever drives', () => {
    expect(judge(readContract)).toMatchObject({ kind: 'allow', reasons: ['default/own-tenant-reads'] });
    expect(judge(readContract, modelDriven)).toMatchObject({ kind: 'allow' });
  });
  it('low-risk reversible writes run unattended when no argument comes from a tool', () => {
    expect(judge(writeContract)).toMatchObject({ kind: 'allow', reasons: ['default/low-risk-reversible-writes'] });
    expect(judge(writeContract, modelDriven)).toMatchObject({ kind: 'ask', reasons: ['no-policy-permits-unattended'] });
  });
  it('a model-driven call whose origins nobody told counts as tainted', () => {
    expect(judge(writeContract, { driver: 'agent', origins: {} })).toMatchObject({ kind: 'ask' });
  });
  it.each([
    ['medium risk', { risk: 'medium' }],
    ['high risk', { risk: 'high' }],
    ['irreversible', { sideEffects: 'irreversible' }],
    ['money', { sideEffects: 'money' }],
    ['a message to the outside', { sideEffects: 'external_message' }],
    ['an execute', { layer: 'execute' }],
  ] as const)('%s asks', (_name, over) => {
    expect(judge(contractOf(over))).toMatchObject({ kind: 'ask' });
  });
  it('critical tools are denied, reads too', () => {
    expect(judge(contractOf({ risk: 'critical' }))).toMatchObject({ kind: 'deny', reasons: ['default/critical-risk'] });
    expect(judge(contractOf({ risk: 'critical', layer: 'read', sideEffects: 'none' }))).toMatchObject({ kind: 'deny' });
  });
  it('unknown tools are denied', () => {
    expect(judgeCall('dev', callProposed().data, null, engine.ask)).toMatchObject({
      kind: 'deny',
      reasons: ['unknown-tool'],
    });
  });
});

describe('what the contract adds', () => {
  it('approval mode `always` asks whatever policy permits unattended', () => {
    expect(judge(contractOf({ approval: { mode: 'always' } }))).toMatchObject({ kind: 'ask' });
    expect(judge(contractOf({ layer: 'read', sideEffects: 'none', approval: { mode: 'always' } }))).toMatchObject({
      kind: 'ask',
    });
  });
  it('approval mode `never` asks nobody by itself, but widens nothing', () => {
    expect(judge(contractOf({ risk: 'high', approval: { mode: 'never' } }))).toMatchObject({ kind: 'allow' });
    expect(judge(contractOf({ risk: 'critical', approval: { mode: 'never' } }))).toMatchObject({ kind: 'deny' });
    const strict = new CedarEngine({
      p: 'permit (principal, action == Action::"call", resource);',
      f: 'forbid (principal, action == Action::"call_unattended", resource);',
    });
    const contract = contractOf({ approval: { mode: 'never' } });
    expect(judgeCall('dev', callProposed({ contract }).data, contract, strict.ask)).toMatchObject({
      kind: 'ask',
      reasons: ['f'],
    });
  });
  it('a principal without any of the roles of the contract is denied', () => {
    expect(judge(contractOf({ access: { roles: ['oncall'] } }))).toMatchObject({
      kind: 'deny',
      reasons: ['contract:access.roles'],
    });
    expect(judge(contractOf({ access: { roles: ['oncall', 'agent'] } }))).toMatchObject({ kind: 'allow' });
  });
  it.each([
    [
      'arguments',
      { arguments: { title: 'other' }, argumentsDigest: callProposed().data.argumentsDigest },
      'argumentsDigest',
    ],
    ['pool', { pool: 'elsewhere' }, 'pool'],
    ['tool', { tool: 'tickets.create@2.0.0' }, 'tool'],
    ['class', { effectClass: 'read' }, 'effectClass'],
  ] as const)('a proposal whose %s do not fit its contract is denied (G3)', (_name, data, fault) => {
    expect(judge(writeContract, data)).toMatchObject({ kind: 'deny', reasons: [`binding:${fault}`] });
  });
});
