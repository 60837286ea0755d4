import fc from 'fast-check';
import { callProposed } from '../../testing/policy-fixture.ts';
import { proposalOf } from '../adapters/proposal-of.ts';
import type { ApprovalStatus } from './approval.ts';
import { decideRepeat, decideReturned, type AgainFacts } from './decide.ts';
import { MAX_RETURNS, type Decision, type DecisionState } from './decision.ts';

const proposal = proposalOf(callProposed());
const statuses: ApprovalStatus[] = [
  'pending',
  'approved',
  'rejected',
  'expired',
  'withdrawn',
  'superseded',
  'consumed',
];
const used = { approvalId: 'appr_1', approvers: ['user:bob'] };
const states: DecisionState[] = [
  { kind: 'granted', token: 't', expiresAt: 1, approval: null },
  { kind: 'granted', token: 't', expiresAt: 1, approval: used },
  { kind: 'asked', approvalId: 'appr_1' },
  { kind: 'refused', status: 'denied', code: 'PERMISSION_DENIED', message: '', approvalId: null },
  { kind: 'superseded', approvalId: 'appr_1' },
];
const decisions: fc.Arbitrary<Decision> = fc.record({
  callId: fc.constant(proposal.callId),
  decisionNo: fc.integer({ min: 1, max: 5 }),
  tenant: fc.constant('dev'),
  runId: fc.constant(proposal.runId),
  state: fc.constantFrom(...states),
  policyDigest: fc.constantFrom('p1', 'p2'),
  reasons: fc.constant(['r']),
  decidedAt: fc.constant(1),
  returns: fc.integer({ min: 0, max: MAX_RETURNS }),
});
const facts = (decision: Decision): fc.Arbitrary<AgainFacts> =>
  fc.record({
    verdict: fc
      .constantFrom('allow' as const, 'ask' as const, 'deny' as const)
      .map((kind) => ({ kind, reasons: ['v'], message: '' })),
    policyDigest: fc.constantFrom('p1', 'p2'),
    approval:
      decision.state.kind === 'granted' && decision.state.approval
        ? fc.record({
            status: fc.constantFrom(...statuses),
            overdue: fc.boolean(),
            expiresAt: fc.constantFrom(1, proposal.call.runDeadline + 60_000),
            carried: fc.boolean(),
          })
        : fc.constant(null),
    now: fc.constantFrom(0, proposal.call.runDeadline + 1),
  });
const cases = decisions.chain((decision) => facts(decision).map((f) => ({ decision, f })));

describe('deciding again (property)', () => {
  it('a repeated proposal never refuses or asks: it grants what still may run, or repeats (P2, P3)', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ({ decision, f }, over) => {
        const outcome = decideRepeat(decision, proposal, over, f);
        expect(['grant', 'repeat']).toContain(outcome.kind);
        if (outcome.kind === 'grant')
          expect({ over, state: decision.state.kind, denied: f.verdict.kind === 'deny' }).toEqual({
            over: true,
            state: 'granted',
            denied: false,
          });
      }),
    );
  });

  it('a return decides only for the latest grant, and no new grant names an approval that does not stand under this policy (P6)', () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 5 }), ({ decision, f }, decisionNo) => {
        const outcome = decideReturned(decision, proposal, { decisionNo, reason: 'GRANT_EXPIRED' }, f);
        if (decision.state.kind !== 'granted' || decisionNo !== decision.decisionNo)
          return expect(outcome).toEqual({ kind: 'repeat' });
        if (outcome.kind === 'grant' && outcome.approval)
          expect([f.approval, f.policyDigest]).toMatchObject([
            { status: 'approved', overdue: false, carried: true, expiresAt: outcome.notAfter },
            decision.policyDigest,
          ]);
        if (f.approval?.status === 'approved' && f.approval.overdue && decision.returns < MAX_RETURNS)
          expect(outcome).toMatchObject({ kind: 'refuse', refusal: { code: 'APPROVAL_EXPIRED' } });
        if (f.verdict.kind === 'deny') expect(outcome.kind).not.toBe('grant');
      }),
    );
  });
});
