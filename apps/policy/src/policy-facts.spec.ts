import type { CallFacts } from '#contracts';
import type { GrantClaims } from '#grants';
import { digestJson } from '#kernel';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { callProposed, contractOf, decideApproval, ofType, openPolicy } from '../testing/policy-fixture.ts';

const declared = {
  tool: 'tickets.read',
  arguments: {},
  values: { price: '/price', resourceVersion: '/version' },
  versionPlace: { argument: 'version' },
};
const refund = contractOf({ name: 'refund', risk: 'medium', facts: declared });
const facts = (values: Partial<CallFacts['values']> = {}): CallFacts => ({
  callId: 'call_01hzzzzzzz0000000000000000_0009',
  contractDigest: `sha256:${'a'.repeat(64)}`,
  values: { price: 4200, resourceVersion: 'v1', ...values },
});

describe('facts at policy', () => {
  let folder: string;
  let policy: ServiceHarness;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-facts-'));
    mkdirSync(path.join(folder, 'policies'));
    writeFileSync(
      path.join(folder, 'policies', 'dear.cedar'),
      `@id("dear") forbid (principal, action == Action::"call", resource == Tool::"tickets.refund")
       unless { context.facts has price && context.facts.price <= 5000 };`,
    );
    policy = await openPolicy({ contracts: [refund], env: { COUNTERSIGN_WORKSPACES: folder } });
  });
  afterAll(async () => {
    await policy.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const propose = async (given: CallFacts | undefined) => {
    await policy.deliver(
      'call.proposed',
      callProposed({ contract: refund, ...(given ? { data: { facts: given } } : {}) }),
    );
    return policy.take();
  };

  it('are shown to the approver, change the digest that a decision must name, and are bound by the grant (G3)', async () => {
    const [asked] = ofType(await propose(facts()), 'ApprovalRequested');
    const [other] = ofType(await propose(facts({ resourceVersion: 'v2' })), 'ApprovalRequested');
    expect(asked!.data.facts).toEqual(facts());
    expect(other!.data.digest).not.toBe(asked!.data.digest);
    await policy.deliver('approval.commands', decideApproval(asked!, { digest: other!.data.digest }));
    expect(ofType(policy.take(), 'ApprovalRefused')[0]!.data.code).toBe('APPROVAL_MISMATCH');
    await policy.deliver('approval.commands', decideApproval(asked!));
    const [granted] = ofType(policy.take(), 'CallGranted');
    const claims = JSON.parse(Buffer.from(granted!.data.grant.split('.')[1]!, 'base64url').toString()) as GrantClaims;
    expect(granted!.data.facts).toEqual(facts());
    expect(claims.factsDigest).toBe(digestJson('facts/v1', facts()));
  });

  it('a policy limits by them', async () => {
    const [settled] = ofType(await propose(facts({ price: 5001 })), 'CallSettled');
    expect(settled!.data).toMatchObject({ status: 'denied', error: { code: 'PERMISSION_DENIED' } });
  });

  it.each<[string, CallFacts | undefined]>([
    ['none', undefined],
    ['one too few', { ...facts(), values: { resourceVersion: 'v1' } }],
    ['one that nobody declared', facts({ state: 'open' })],
  ])('%s: denied, and nobody is asked (G13)', async (_name, given) => {
    const published = await propose(given);
    expect(ofType(published, 'ApprovalRequested')).toEqual([]);
    expect(ofType(published, 'CallSettled')[0]!.data.status).toBe('denied');
  });

  it('for a contract that wants none they are no part of a proposal: denied', async () => {
    await policy.deliver('call.proposed', callProposed({ data: { facts: facts() } }));
    expect(ofType(policy.take(), 'CallSettled')[0]!.data.status).toBe('denied');
  });
});
