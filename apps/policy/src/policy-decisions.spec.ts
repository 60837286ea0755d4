import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { InfrastructureError } from '#kernel';
import { toolKey, type Message } from '#contracts';
import { grantId, KeyRing, verifyGrant, type PublicKeySet } from '#grants';
import { contractDigest } from '#registry';
import { resolveSettings } from '#runtime';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import {
  askContract,
  callProposed,
  callReturned,
  contractOf,
  ofType,
  openPolicy,
  readContract,
  typesOf,
  writeContract,
} from '../testing/policy-fixture.ts';
import { policyDoor } from './policy.module.ts';

let policy: ServiceHarness;
beforeAll(async () => {
  policy = await openPolicy({ contracts: [contractOf({ name: 'deny', risk: 'critical' })] });
});
afterAll(() => policy.close());
beforeEach(() => policy.take());

const granted = () => ofType(policy.take(), 'CallGranted');
const propose = async (proposal: Message<'CallProposed'>) => {
  await policy.deliver('call.proposed', proposal);
  return policy.take();
};
const runOut = (callId: string) =>
  policy.database.change({
    text: `update decision set grant_expires_at = now() - interval '1 second' where call_id = $1`,
    values: [callId],
  });
const rowsOf = async (callId: string) =>
  (
    await policy.database.query<{ n: number }>({
      text: 'select count(*)::int as n from decision where call_id = $1',
      values: [callId],
    })
  )[0]!.n;

describe('a proposal', () => {
  it('that policy allows becomes a grant on the topic of its pool, bound to the exact call (G3)', async () => {
    const proposal = callProposed({ data: { resources: ['ticket:1'] } });
    const published = await propose(proposal);
    expect(published.map((p) => [p.topic, p.message.type])).toEqual([
      ['call.decided', 'CallAllowed'],
      ['call.granted.default', 'CallGranted'],
    ]);
    const [grant] = ofType(published, 'CallGranted');
    const { origins: _o, runDeadline: _d, ...bound } = proposal.data;
    expect(grant!.data).toEqual({ ...bound, decisionNo: 1, grant: expect.any(String) });
    const ring = new KeyRing({ fetch: () => policy.read<PublicKeySet>('publicKeys', {}) });
    const { claims } = await verifyGrant(grant!.data.grant, ring);
    const [allowed] = ofType(published, 'CallAllowed');
    expect(claims).toMatchObject({
      jti: grantId(proposal.callId!, 1),
      tenant: 'dev',
      runId: proposal.runId,
      callId: proposal.callId,
      principal: 'user:alice',
      tool: toolKey(writeContract),
      contractDigest: contractDigest(writeContract),
      argsDigest: proposal.data.argumentsDigest,
      resources: ['ticket:1'],
      operationKey: proposal.data.operationKey,
      policyDigest: allowed!.data.policyDigest,
      decisionId: allowed!.data.decisionId,
      decisionNo: 1,
      aud: 'default',
    });
    expect(claims.exp - claims.iat).toBe(60);
    expect(claims.approvalId).toBeUndefined();
  });

  it('that policy denies is settled by policy, and grants nothing', async () => {
    const published = await propose(callProposed({ contract: contractOf({ name: 'deny', risk: 'critical' }) }));
    expect(published.map((p) => [p.topic, p.message.type])).toEqual([['call.decided', 'CallSettled']]);
    expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
      settledBy: 'policy',
      status: 'denied',
      effect: 'none',
      decisionNo: 1,
      error: { code: 'PERMISSION_DENIED' },
    });
  });

  it('of a contract that nobody published is denied', async () => {
    const published = await propose(callProposed({ contract: contractOf({ name: 'unheard_of' }) }));
    expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'denied',
      error: { code: 'PERMISSION_DENIED' },
    });
  });

  it('beyond the deadline of its run is not granted (G8)', async () => {
    const published = await propose(callProposed({ data: { runDeadline: Date.now() - 1 } }));
    expect(typesOf(published)).toEqual(['CallSettled']);
    expect(ofType(published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'expired',
      error: { code: 'BUDGET_EXHAUSTED' },
    });
  });

  it('one batch decides many calls, each once, duplicates included', async () => {
    const proposals = Array.from({ length: 20 }, (_, i) =>
      callProposed({ contract: i % 2 === 0 ? readContract : askContract }),
    );
    await policy.deliver('call.proposed', ...proposals, ...proposals);
    const published = policy.take();
    const answered = [...ofType(published, 'CallGranted'), ...ofType(published, 'ApprovalRequested')].map(
      (m) => m.callId,
    );
    expect(answered.sort()).toEqual(proposals.map((p) => p.callId).sort());
  });
});

describe('a repeated proposal decides nothing again (P2)', () => {
  it.each([
    ['granted', readContract],
    ['asked', askContract],
    ['denied', contractOf({ name: 'deny', risk: 'critical' })],
  ])('a %s call: the same bytes, also from another replica and after a restart', async (_name, contract) => {
    const proposal = callProposed({ contract });
    await propose(proposal);
    const raw = () =>
      policy.published.filter((p) => p.message.callId === proposal.callId).map((p) => p.raw.value.toString());
    const first = raw();
    await propose(proposal);
    expect(raw().slice(first.length)).toEqual(first);
    const replica = await openPolicy({ url: policy.url });
    await replica.deliver('call.proposed', proposal);
    expect(replica.published.map((p) => p.raw.value.toString())).toEqual(first);
    await replica.close();
    expect(await rowsOf(proposal.callId!)).toBe(1);
  });

  it('unless its grant ran out by the database’s clock: then it is judged again as decision n + 1', async () => {
    const proposal = callProposed();
    await propose(proposal);
    await runOut(proposal.callId!);
    const [grant] = ofType(await propose(proposal), 'CallGranted');
    expect(grant!.data.decisionNo).toBe(2);
    expect(ofType(await propose(proposal), 'CallGranted')[0]!.data.grant).toBe(grant!.data.grant);
  });

  it('a grant that ran out unseen is never refused: the pool may be executing under it (P3)', async () => {
    const proposal = callProposed({ data: { runDeadline: Date.now() + 50 } });
    await propose(proposal);
    await runOut(proposal.callId!);
    const late = await openPolicy({ url: policy.url, clock: { now: () => Date.now() + 60_000 } });
    await late.deliver('call.proposed', proposal);
    expect(typesOf(late.published)).toEqual(['CallAllowed', 'CallGranted']);
    expect(ofType(late.published, 'CallGranted')[0]!.data.decisionNo).toBe(1);
    await late.close();
  });
});

describe('a returned grant', () => {
  it('is judged again and replaced; a repeat and a late return of an older one repeat the newest', async () => {
    const proposal = callProposed();
    await propose(proposal);
    await policy.deliver('call.returned.default', callReturned(proposal, 1), callReturned(proposal, 1));
    const [second] = granted();
    expect(second!.data.decisionNo).toBe(2);
    await policy.deliver('call.returned.default', callReturned(proposal, 1));
    expect(granted().map((g) => g.data.grant)).toEqual([second!.data.grant]);
    expect(await rowsOf(proposal.callId!)).toBe(2);
  });

  it('of another pool, of another tenant or never minted changes nothing (G12)', async () => {
    const proposal = callProposed();
    await propose(proposal);
    await policy.deliver('call.returned.default', callReturned(proposal, 1, 'GRANT_EXPIRED', 'other'));
    await policy.deliver('call.returned.default', callReturned(callProposed(), 1));
    expect(policy.take()).toEqual([]);
    const second = await openPolicy({ url: policy.url, env: { COUNTERSIGN_POOLS: 'default,foreign' } });
    await second.deliver('call.returned.foreign', callReturned(proposal, 1));
    expect(second.published).toEqual([]);
    await second.close();
    expect(await rowsOf(proposal.callId!)).toBe(1);
  });

  it('after the deadline of the run is settled by policy: the right to settle came back with it (P3, G8)', async () => {
    const proposal = callProposed();
    await propose(proposal);
    const late = await openPolicy({ url: policy.url, clock: { now: () => Date.now() + 3_600_000 } });
    await late.deliver('call.returned.default', callReturned(proposal, 1));
    expect(typesOf(late.published)).toEqual(['CallSettled']);
    expect(ofType(late.published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'expired',
      decisionNo: 2,
      error: { code: 'BUDGET_EXHAUSTED' },
    });
    await late.close();
  });

  it('too often ends the call, saying why', async () => {
    const proposal = callProposed();
    await propose(proposal);
    for (let no = 1; no <= 21; no++)
      await policy.deliver('call.returned.default', callReturned(proposal, no, 'LOCK_WAIT'));
    const settled = ofType(policy.take(), 'CallSettled');
    expect(settled).toHaveLength(1);
    expect(settled[0]!.data).toMatchObject({ status: 'expired', error: { code: 'BUSY' } });
  });

  it('that the pool cannot accept is not answered in a tight loop: from the second on, the next re-drive judges again', async () => {
    const proposal = callProposed();
    await propose(proposal);
    await policy.deliver('call.returned.default', callReturned(proposal, 1, 'GRANT_INVALID'));
    expect(granted().map((g) => g.data.decisionNo)).toEqual([2]);
    await policy.deliver('call.returned.default', callReturned(proposal, 2, 'GRANT_INVALID'));
    expect(policy.take()).toEqual([]);
    expect(ofType(await propose(proposal), 'CallGranted').map((g) => g.data.decisionNo)).toEqual([3]);
  });
});

describe('replicas', () => {
  it('that race for the same proposals and returns agree on one decision each (P1)', async () => {
    const replica = await openPolicy({ url: policy.url });
    const proposals = Array.from({ length: 30 }, () => callProposed());
    await Promise.all([
      policy.deliver('call.proposed', ...proposals),
      replica.deliver('call.proposed', ...[...proposals].reverse()),
    ]);
    const tokensOf = (no: number) => {
      const tokens = new Map<string, Set<string>>();
      for (const grant of [...ofType(policy.published, 'CallGranted'), ...ofType(replica.published, 'CallGranted')]) {
        if (grant.data.decisionNo === no && proposals.some((p) => p.callId === grant.callId))
          tokens.set(grant.callId!, (tokens.get(grant.callId!) ?? new Set()).add(grant.data.grant));
      }
      return [...tokens.values()].map((set) => set.size);
    };
    expect(tokensOf(1)).toEqual(proposals.map(() => 1));
    const returns = proposals.map((proposal) => callReturned(proposal, 1));
    await Promise.all([
      policy.deliver('call.returned.default', ...returns),
      replica.deliver('call.returned.default', ...[...returns].reverse()),
    ]);
    expect(tokensOf(2)).toEqual(proposals.map(() => 1));
    await replica.close();
  });

  it('that start together agree on one signing key', async () => {
    const first = await openPolicy();
    await first.database.change({ text: 'delete from signing_key' });
    const both = await Promise.all([openPolicy({ url: first.url }), openPolicy({ url: first.url })]);
    const keys = await Promise.all(both.map((one) => one.read<PublicKeySet>('publicKeys', {})));
    expect(keys[0]!.keys).toHaveLength(1);
    expect(keys[0]).toEqual(keys[1]);
    expect(Object.keys(keys[0]!.keys[0]!)).not.toContain('d');
    await Promise.all(both.map((one) => one.close()));
    await first.close();
  });
});

describe('the registry', () => {
  it('is away: the batch is held, nothing is decided (G13)', async () => {
    const proposal = callProposed();
    const registry = () => Promise.reject(new InfrastructureError('the registry is away'));
    const cut = await openPolicy({ url: policy.url, registry });
    await expect(cut.deliver('call.proposed', proposal)).rejects.toBeInstanceOf(InfrastructureError);
    expect(cut.published).toEqual([]);
    expect(await rowsOf(proposal.callId!)).toBe(0);
    await cut.close();
  });

  it('answers with another contract: it is not believed, the call is denied (G13)', async () => {
    const lying = await openPolicy({ url: policy.url, registry: ({ digest }) => ({ digest, contract: readContract }) });
    await lying.deliver('call.proposed', callProposed());
    expect(ofType(lying.published, 'CallSettled')[0]!.data).toMatchObject({ status: 'denied' });
    expect(ofType(lying.published, 'CallGranted')).toEqual([]);
    await lying.close();
  });
});

describe('the start', () => {
  it('stops at a malformed policy of a workspace, naming file and line (G13)', async () => {
    const workspace = mkdtempSync(path.join(os.tmpdir(), 'workspace-'));
    mkdirSync(path.join(workspace, 'policies'));
    writeFileSync(
      path.join(workspace, 'policies', 'broken.cedar'),
      '\npermit (principal, action, resource) when { context.nothing };',
    );
    const settings = resolveSettings(policyDoor.settings, { COUNTERSIGN_WORKSPACES: workspace });
    await expect(policyDoor.open({ settings } as never)).rejects.toThrow(/broken\.cedar:2: .*nothing/);
    writeFileSync(
      path.join(workspace, 'policies', 'broken.cedar'),
      '@id("no-writes") forbid (principal, action, resource) when { context.layer == "write" };',
    );
    const strict = await openPolicy({ url: policy.url, env: { COUNTERSIGN_WORKSPACES: workspace } });
    await strict.deliver('call.proposed', callProposed());
    expect(ofType(strict.published, 'CallSettled')[0]!.data).toMatchObject({
      status: 'denied',
      error: { code: 'PERMISSION_DENIED' },
    });
    await strict.close();
    rmSync(workspace, { recursive: true });
  });
});
