import type { Proposal } from '#contracts';
import { alice, SHELF, startData, TOOLSET } from '../../testing/fixtures.ts';
import { RUN_ID } from '../../testing/scene.ts';
import { admitProposal } from './admit-proposal.ts';
import { resolveTool } from './resolve-tool.ts';
import type { RunDefinition } from './run-state.ts';
import type { ContractShelf } from './saga.types.ts';

function admit(
  tool: string,
  args: string,
  own: { driver?: RunDefinition['driver']; contracts?: ContractShelf; sources?: string[] } = {},
) {
  const { driver = 'agent', contracts = SHELF, sources = [] } = own;
  const { budgets, labels, toolset, requestDigest } = startData(driver);
  const definition: RunDefinition = {
    runId: RUN_ID,
    tenant: 'dev',
    driver,
    principal: alice,
    requestDigest,
    toolset,
    budgets,
    labels,
    startedAt: 0,
  };
  const proposal: Proposal = { tool, arguments: args, providerCallId: 'p1' };
  return admitProposal(proposal, {
    definition,
    offered: definition.toolset,
    principal: alice,
    callId: `call_${RUN_ID.slice(4)}_0001`,
    sources,
    contracts,
    origin: definition.driver === 'agent' ? 'tool:*' : 'user',
  });
}

describe('admission of a proposal (G1, G2)', () => {
  it.each(['ops.list_regions', 'ops.list_regions@1.0.0', 'ops__list_regions', 'ops__list_regions@1.0.0'])(
    '%s names a tool of the toolset',
    (tool) => {
      expect(admit(tool, '')).toMatchObject({
        ok: true,
        bound: { tool: 'ops.list_regions@1.0.0', arguments: {}, effectClass: 'read' },
      });
    },
  );

  it.each(['', '  ', '\n'])('empty or blank arguments (%j) are {} and judged by the schema of the tool', (text) => {
    expect(admit('ops.list_regions', text)).toMatchObject({ ok: true, bound: { arguments: {} } });
    expect(admit('ops.set_flag', text)).toMatchObject({
      ok: false,
      error: { code: 'INVALID_ARGS', details: [{ path: '/name', rule: 'required' }] },
    });
  });

  it.each(['[]', 'null', '"x"', '3'])('%s is not an object of arguments', (text) => {
    expect(admit('ops.list_regions', text)).toMatchObject({
      ok: false,
      error: { code: 'INVALID_ARGS', details: [{ path: '', rule: 'type' }] },
    });
  });

  it.each(['{', '{"name":"a","name":"b"}', '{"name":1e999}'])('%s is no strict JSON', (text) => {
    expect(admit('ops.set_flag', text)).toMatchObject({
      ok: false,
      error: { code: 'INVALID_JSON', changeArguments: true },
    });
  });

  it.each(['{"name":"a\\u0000"}', '{"name":"cut \\ud83d"}'])(
    '%s holds a character that cannot be carried: refused with its path (B018)',
    (text) => {
      expect(admit('ops.set_flag', text)).toMatchObject({
        ok: false,
        error: { code: 'INVALID_ARGS', details: [{ path: '/name' }] },
      });
      expect(admit('ops.set_flag', '{"name":"two\\nlines\\t"}')).toMatchObject({
        ok: false,
        error: { details: [{ rule: 'controlCharacter' }] },
      });
      expect(admit('ops.team_note', '{"text":"two\\nlines\\t"}')).toMatchObject({ ok: true });
    },
  );

  it('keys that reach a prototype are refused in arguments, with their path (B068)', () => {
    const refused = admit('ops.set_flag', '{"name":"x","__proto__":{"isAdmin":true}}');
    expect(refused).toMatchObject({ ok: false, error: { code: 'INVALID_ARGS', details: [{ path: '/__proto__' }] } });
  });

  it('a tool name that cannot be stored is kept in a form that can', () => {
    expect(admit('a\u0000b', '{}')).toMatchObject({ ok: false, tool: 'a\ufffdb', error: { code: 'UNKNOWN_TOOL' } });
  });

  it('an unknown tool is told with near names of the toolset, in the form that the asker uses', () => {
    expect(admit('ops__read_alert', '{}')).toMatchObject({
      ok: false,
      error: { code: 'UNKNOWN_TOOL', details: [{ path: '/tool', allowed: ['ops__read_alerts'] }] },
    });
    expect(admit('read_alerts', '{}', { driver: 'call' })).toMatchObject({
      error: { details: [{ allowed: ['ops.read_alerts'] }] },
    });
    expect(admit('zzzzzzzzzzzz', '{}')).toMatchObject({
      error: { details: [{ allowed: expect.arrayContaining(['ops__set_flag']) }] },
    });
  });

  it('of several versions the highest is meant, unless one is named', () => {
    const digest = TOOLSET[0]!.digest;
    const toolset = ['a.b@1.9.0', 'a.b@1.10.0', 'a.b@1.2.0'].map((tool) => ({ tool, digest }));
    expect(resolveTool('a.b', toolset)?.tool).toBe('a.b@1.10.0');
    expect(resolveTool('a__b@1.2.0', toolset)?.tool).toBe('a.b@1.2.0');
  });

  it('defaults are filled in before anyone is asked, and the digest binds them (G3)', () => {
    const short = admit('ops.set_flag', '{"name":"a"}');
    const full = admit('ops.set_flag', '{"on":true,"name":"a"}');
    expect(short).toMatchObject({ ok: true, bound: { arguments: { name: 'a', on: true } } });
    expect(short).toMatchObject({
      bound: { argumentsDigest: (full as { bound: { argumentsDigest: string } }).bound.argumentsDigest },
    });
  });

  it('a contract that cannot be read denies (G13)', () => {
    const contracts: ContractShelf = new Map(TOOLSET.map(({ digest }) => [digest, 'unreadable']));
    expect(admit('ops.set_flag', '{"name":"a"}', { contracts })).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL' },
    });
  });

  it('the task that a key needs is asked for before anything else happens (G7)', () => {
    const args = JSON.stringify({ severity: 'sev1', summary: 's', evidence_ids: ['e1'] });
    expect(admit('ops.create_ticket', args, { sources: ['e1'] })).toMatchObject({
      ok: false,
      error: { code: 'IDEMPOTENCY_REQUIRED', changeArguments: false },
    });
  });
});
