import { callProposed, contractOf, writeContract } from '../../testing/policy-fixture.ts';
import { policyQuestion, type PolicyQuestion } from '../domain/policy-question.ts';
import { judgeCall } from '../domain/judge-call.ts';
import { CedarEngine } from './cedar-engine.ts';

const question = (over: Partial<PolicyQuestion['context']> = {}): PolicyQuestion => {
  const plain = policyQuestion('dev', callProposed().data, writeContract);
  return { ...plain, context: { ...plain.context, ...over } };
};
const permitAll = 'permit (principal, action, resource);';

describe('Cedar, fail closed (G13)', () => {
  it('an erroring forbid denies instead of being skipped', () => {
    const engine = new CedarEngine({
      p: permitAll,
      f: 'forbid (principal, action, resource) when { 9223372036854775807 + 1 == 1 };',
    });
    expect(engine.ask('call', question())).toEqual({ allowed: false, failed: true, reasons: ['f'] });
  });
  it('a request that does not fit the schema denies', () => {
    const engine = new CedarEngine({ p: permitAll });
    expect(engine.ask('call', question({ risk: 0.5 as never }))).toMatchObject({ allowed: false, failed: true });
    expect(engine.ask('call', question({ tainted: undefined as never }))).toMatchObject({
      allowed: false,
      failed: true,
    });
    expect(
      engine.ask('call', { ...question(), principal: { id: 'x', kind: 'other' as never, roles: [] } }),
    ).toMatchObject({ allowed: false, failed: true });
  });
  it('nothing is permitted by silence; a forbid wins over a permit', () => {
    expect(new CedarEngine({}).ask('call', question())).toEqual({ allowed: false, failed: false, reasons: [] });
    const engine = new CedarEngine({ p: permitAll, f: 'forbid (principal, action == Action::"call", resource);' });
    expect(engine.ask('call', question())).toEqual({ allowed: false, failed: false, reasons: ['f'] });
    expect(engine.ask('call_unattended', question())).toEqual({ allowed: true, failed: false, reasons: ['p'] });
  });
  it('roles, tools, namespaces and resources decide; kept answers never leak to other values', () => {
    const engine = new CedarEngine({
      role: 'permit (principal in Role::"oncall", action == Action::"call", resource);',
      tool: 'permit (principal, action == Action::"call_unattended", resource == Tool::"tickets.create") when { context.resources.contains("ticket:1") };',
      space: 'forbid (principal, action, resource in Namespace::"payments");',
    });
    const as = (...roles: string[]): PolicyQuestion => ({
      ...question(),
      principal: { id: 'user:a', kind: 'user', roles },
    });
    expect(engine.ask('call', as('oncall')).allowed).toBe(true);
    expect(engine.ask('call', as('other')).allowed).toBe(false);
    expect(engine.ask('call', as('oncall')).allowed).toBe(true);
    expect(engine.ask('call_unattended', question({ resources: ['ticket:1'] })).allowed).toBe(true);
    expect(engine.ask('call_unattended', question({ resources: ['ticket:2'] })).allowed).toBe(false);
    const payments = { ...as('oncall'), tool: 'payments.create', context: question({ namespace: 'payments' }).context };
    expect(engine.ask('call', payments)).toMatchObject({ allowed: false, reasons: ['space'] });
  });
  it("limits the contract's amount; a value that is no exact integer denies", () => {
    const engine = new CedarEngine({
      p: permitAll,
      cap: 'forbid (principal, action == Action::"call", resource) when { context.amount > 50000 };',
      ask: 'forbid (principal, action == Action::"call_unattended", resource) when { context.amount > 2000 };',
    });
    const contract = contractOf({ amountArgument: 'amount_minor' });
    const judge = (amount: unknown) => {
      const { data } = callProposed({ contract, data: { arguments: { amount_minor: amount } } });
      const { kind, reasons } = judgeCall('dev', data, contract, engine.ask);
      return [kind, ...reasons];
    };
    expect(judge(2000)).toEqual(['allow', 'p']);
    expect(judge(2001)).toEqual(['ask', 'ask']);
    expect(judge(50_001)).toEqual(['deny', 'cap']);
    for (const odd of [1.5, '3', null, 2 ** 53]) expect(judge(odd)).toEqual(['deny', 'binding:amount']);
  });
  it('the digest names pack and schema: another policy is another digest', () => {
    const digest = (policies: Record<string, string>): string => new CedarEngine(policies).policyDigest;
    expect(digest({ p: permitAll })).toBe(digest({ p: permitAll }));
    expect(digest({ p: permitAll })).not.toBe(digest({ q: permitAll }));
  });
});
