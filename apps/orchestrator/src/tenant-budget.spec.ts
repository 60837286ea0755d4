import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { message, type Message, type MessageData } from '#contracts';
import { callIdOf } from '#kernel';
import { until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { BUDGETS, startData } from '../testing/fixtures.ts';
import { openOrchestrator, OPENING_TOKENS, TenantRun, usedBy } from '../testing/tenant-rig.ts';
import type { UsageView } from './domain/usage-view.ts';

const TOKENS = { '*': { day: { tokens: 1000 }, answerTokens: 200 - OPENING_TOKENS } };
const DAY = 86_400_000;
let serial = 0;
const newTenant = () => `t${++serial}`;
const typesOf = (took: readonly { message: Message }[]) => took.map(({ message: { type } }) => type);
const dataOf = <T extends Message['type']>(took: readonly { message: Message }[], type: T) =>
  took.filter((t) => t.message.type === type).map((t) => t.message.data as MessageData<T>);
const resume = (run: TenantRun, commandId = 'r1') =>
  message('ResumeRun', run.about(), { commandId, principal: startData('agent').principal, budgets: {} });
const failed = (run: TenantRun, own: Partial<MessageData<'TurnFailed'>>) =>
  message('TurnFailed', run.about(), { turn: 1, code: 'MODEL_UNAVAILABLE', message: 'away', ...own });

describe('limits of tenants (G8)', () => {
  let service: ServiceHarness;
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead };
  beforeAll(async () => {
    service = await openOrchestrator(TOKENS, { clock });
  });
  afterAll(() => service.close());
  beforeEach(() => {
    clock.ahead = 0;
    service.take();
  });
  const used = async (tenant: string) => (await usedBy(service, tenant)).used;

  it('binds each request to what was reserved for it, and settles it with what was used', async () => {
    const run = new TenantRun(newTenant(), 'a');
    await service.deliver('run.commands', run.start());
    expect(dataOf(service.take(), 'RequestTurn')).toMatchObject([{ limits: { maxTokens: 200 } }]);
    expect(await used(run.tenant)).toBe(200);
    await service.deliver('model.responses', run.answer(1, 30, 12), run.answer(1, 30, 12));
    expect(await used(run.tenant)).toBe(42);
  });

  it('what nobody knows keeps its reservation, what was not sent is not charged, what comes late is settled (B4)', async () => {
    const tenant = newTenant();
    const [unknown, unsent, late] = ['u', 'n', 'l'].map((key) => new TenantRun(tenant, key)) as [
      TenantRun,
      TenantRun,
      TenantRun,
    ];
    await service.deliver('run.commands', unknown.start(), unsent.start(), late.start());
    expect(await used(tenant)).toBe(600);
    await service.deliver(
      'model.responses',
      failed(unknown, { usage: { inputTokens: null, outputTokens: null } }),
      failed(unsent, {}),
    );
    expect(await used(tenant)).toBe(400);
    const { principal } = startData('agent');
    await service.deliver('run.commands', message('CancelRun', late.about(), { commandId: 'c', principal }));
    expect(await used(tenant)).toBe(400);
    await service.deliver('model.responses', late.answer(1, 60));
    await service.deliver('model.responses', late.answer(1, 60));
    expect(await used(tenant)).toBe(260);
  });

  it('a run that is refused says which limit and when it is renewed, and goes on after it without a raise of its own', async () => {
    const tenant = newTenant();
    const runs = Array.from({ length: 6 }, (_, i) => new TenantRun(tenant, String(i)));
    await service.deliver('run.commands', ...runs.map((run) => run.start()));
    const took = service.take();
    expect(dataOf(took, 'RequestTurn')).toHaveLength(5);
    const { cause, status } = dataOf(took, 'RunEnded')[0]!;
    expect([status, cause?.tenant]).toMatchObject([
      'budget_exhausted',
      { period: 'day', limit: 'tokens', most: 1000, renewsAt: expect.stringMatching(/T00:00:00.000Z$/) },
    ]);
    await service.deliver('run.commands', resume(runs[5]!));
    expect(dataOf(service.take(), 'CommandRefused')).toMatchObject([{ code: 'BUDGET_EXHAUSTED' }]);
    clock.ahead = DAY;
    await service.deliver('run.commands', resume(runs[5]!, 'r2'));
    expect(typesOf(service.take())).toEqual(['RunResumed', 'RequestTurn']);
    expect(await used(tenant)).toBe(1200);
  });

  it('calls are counted as they are admitted; a direct call beyond the limit is refused, and so is the rest of a turn', async () => {
    const calls = await openOrchestrator({ '*': { day: { calls: 3 }, month: { calls: 100 } } }, { url: service.url });
    try {
      const tenant = newTenant();
      const direct = (key: string) => {
        const run = new TenantRun(tenant, key);
        const proposals = [{ callId: callIdOf(run.runId, 1), tool: 'ops.list_regions', arguments: '{}' }];
        return message('StartRun', run.about(), startData('call', { proposals }));
      };
      await calls.deliver('run.commands', direct('a'), direct('a'), direct('b'), direct('c'), direct('d'));
      const took = calls.take();
      expect(dataOf(took, 'CallProposed')).toHaveLength(3);
      expect(dataOf(took, 'CallSettled')).toMatchObject([{ status: 'rejected', error: { code: 'BUDGET_EXHAUSTED' } }]);
      expect(dataOf(took, 'RunEnded')).toMatchObject([{ status: 'budget_exhausted' }]);
      const view = await calls.read<UsageView>('usage', { tenant });
      expect(view.limits).toMatchObject([
        { period: 'day', limit: 'calls', used: 3, most: 3, left: 0 },
        { period: 'month', limit: 'calls', used: 3, most: 100, left: 97 },
      ]);
      expect((await calls.read<UsageView>('usage', { tenant: 'nobody' })).limits[0]).toMatchObject({ used: 0 });
    } finally {
      await calls.close();
    }
  });

  it('costs are reserved and settled in US dollars, and an unknown price under such a limit refuses', async () => {
    const dear = await openOrchestrator({ '*': { day: { costUsd: 1 }, requestCostUsd: 0.4 } }, { url: service.url });
    try {
      const tenant = newTenant();
      const run = new TenantRun(tenant, 'a');
      const free = { ...BUDGETS, allowUnknownCost: true };
      await dear.deliver('run.commands', run.start({ budgets: free }));
      expect(dataOf(dear.take(), 'RequestTurn')[0]!.limits).toMatchObject({ maxCostUsd: 0.4 });
      const answer = run.answer(1, 10, 10);
      await dear.deliver('model.responses', {
        ...answer,
        data: { ...answer.data, usage: { ...answer.data.usage, costUsd: 0.15 } },
      });
      expect((await dear.read<UsageView>('usage', { tenant })).limits).toMatchObject([{ used: 0.15, left: 0.85 }]);
      const priceless = new TenantRun(tenant, 'b');
      await dear.deliver('run.commands', priceless.start({ budgets: free }));
      await dear.deliver('model.responses', failed(priceless, { code: 'BUDGET_EXHAUSTED', limit: 'allowUnknownCost' }));
      expect(dataOf(dear.take(), 'RunEnded').at(-1)).toMatchObject({ cause: { tenant: { limit: 'costUsd' } } });
      expect((await dear.read<UsageView>('usage', { tenant })).limits).toMatchObject([{ used: 0.15 }]);
    } finally {
      await dear.close();
    }
  });

  it('limits are read again from their file: a raise lets runs go on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'limits-'));
    const file = join(folder, 'limits.json');
    const write = (tokens: number) => writeFile(file, JSON.stringify({ '*': { ...TOKENS['*'], day: { tokens } } }));
    await write(100);
    const reading = await openOrchestrator(file, { url: service.url });
    try {
      await reading.startWorkers();
      const run = new TenantRun(newTenant(), 'a');
      await reading.deliver('run.commands', run.start());
      expect(typesOf(reading.take())).toEqual(['RunStarted', 'RunEnded']);
      await write(300);
      await until(async () => (await reading.read<UsageView>('usage', { tenant: run.tenant })).limits[0]!.most === 300);
      await reading.deliver('run.commands', resume(run));
      expect(typesOf(reading.take())).toEqual(['RunResumed', 'RequestTurn']);
      await writeFile(file, '{');
    } finally {
      await reading.close();
      await rm(folder, { recursive: true });
    }
  });

  it('a tenant without a limit charges nothing and keeps no row (B6)', async () => {
    const open = await openOrchestrator({ other: { day: { tokens: 1 } } }, { url: service.url });
    const run = new TenantRun(newTenant(), 'a');
    await open.deliver('run.commands', run.start());
    await open.deliver('model.responses', run.answer(1, 10));
    expect(dataOf(open.take(), 'RunEnded')).toMatchObject([{ status: 'completed' }]);
    const rows = { text: 'select 1 from tenant_budget where tenant = $1', values: [run.tenant] };
    expect(await open.database.query(rows)).toEqual([]);
    expect(await open.read<UsageView>('usage', { tenant: run.tenant })).toEqual({ limits: [] });
    await open.close();
  });

  it('a slice whose owner is silent is taken over, its use stays, and its owner spends no more of it (B3)', async () => {
    const tenant = newTenant();
    const silent = await openOrchestrator(TOKENS, { url: service.url, instance: 'silent' });
    const runs = Array.from({ length: 8 }, (_, i) => new TenantRun(tenant, String(i)));
    // Five leases' worth are granted for one request of three, then given back in part.
    await silent.deliver('run.commands', ...runs.slice(0, 4).map((run) => run.start()));
    await silent.deliver('model.responses', ...runs.slice(0, 3).map((run) => run.answer(1, 10)));
    expect(await usedBy(service, tenant)).toEqual({ used: 230, granted: 800 });
    await service.deliver('run.commands', runs[4]!.start(), runs[5]!.start());
    expect(dataOf(service.take(), 'RunEnded')).toHaveLength(1);
    await service.database.query({
      text: `update tenant_budget_slice set lease_until = now() - interval '1 second' where owner = 'silent' and tenant = $1`,
      values: [tenant],
    });
    await service.deliver('run.commands', runs[6]!.start());
    expect(dataOf(service.take(), 'RequestTurn')).toHaveLength(1);
    await silent.deliver('run.commands', runs[7]!.start());
    await silent.deliver('model.responses', runs[3]!.answer(1, 20));
    const { used: now, granted } = await usedBy(service, tenant);
    expect([now <= 1000, granted <= 1000]).toEqual([true, true]);
    expect(now).toBe(650);
    await silent.close();
  });

  it('however runs of several processes race and processes die, no limit is passed and nothing stays reserved for good', async () => {
    const open = () => openOrchestrator(TOKENS, { url: service.url });
    const wave = fc.record({
      starts: fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 0, max: 200 })), { minLength: 1, maxLength: 8 }),
      dies: fc.option(fc.nat(2)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(wave, { minLength: 1, maxLength: 3 }), async (waves) => {
        const tenant = newTenant();
        const replicas = await Promise.all([open(), open(), open()]);
        const dead: ServiceHarness[] = [];
        let spent = 0;
        let n = 0;
        for (const { starts, dies } of waves) {
          await Promise.all(
            starts.map(async ([by, tokens]) => {
              const run = new TenantRun(tenant, String(n++));
              const at = replicas[by]!;
              await at.deliver('run.commands', run.start());
              const asked = at.published.some((p) => p.message.runId === run.runId && p.message.type === 'RequestTurn');
              expect(await used(tenant)).toBeLessThanOrEqual(1000);
              if (!asked) return;
              await replicas[(by + 1) % 3]!.deliver('model.responses', run.answer(1, tokens));
              spent += tokens;
            }),
          );
          const state = await usedBy(service, tenant);
          expect([state.used, state.granted <= 1000]).toEqual([spent, true]);
          if (dies === null) continue;
          dead.push(replicas[dies]!);
          replicas[dies] = await open();
          await service.database.query({
            text: `update tenant_budget_slice set lease_until = now() - interval '1 second' where tenant = $1`,
            values: [tenant],
          });
        }
        for (const one of [...replicas, ...dead]) await one.close();
        expect(await usedBy(service, tenant)).toEqual({ used: spent, granted: spent });
      }),
      { numRuns: 8 },
    );
  }, 120_000);
});
