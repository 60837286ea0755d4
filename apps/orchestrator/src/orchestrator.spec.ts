import { message, type Message, type MessageData } from '#contracts';
import { callIdOf, runIdFromKey, type Clock } from '#kernel';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { BUDGETS, CONTRACTS, settledData, startData, TOOLSET } from '../testing/fixtures.ts';
import type { RunView } from './domain/run-view.ts';
import { orchestratorDoor } from './orchestrator.module.ts';

const published = new Map(TOOLSET.map(({ digest }, i) => [digest, { digest, contract: CONTRACTS[i]! }]));
const reads = { 'gateway.contract': ({ digest }: { digest: string }) => published.get(digest) ?? null };
let serial = 0;
const newRun = (tenant = 'dev'): string => runIdFromKey(tenant, 'user:alice', 'test', String(++serial));
const about = (runId: string, tenant = 'dev') => ({ tenant, runId, now: Date.now() });

function startCall(runId: string, args: unknown = { name: 'a' }, tenant = 'dev'): Message<'StartRun'> {
  const proposals = [{ callId: callIdOf(runId, 1), tool: 'ops.set_flag', arguments: JSON.stringify(args) }];
  return message('StartRun', about(runId, tenant), startData('call', { proposals }));
}
const startAgent = (runId: string, own: object = {}) => message('StartRun', about(runId), startData('agent', own));
const settled = (callId: string, runId: string, own: object = {}, tenant = 'dev') =>
  message('CallSettled', { ...about(runId, tenant), callId }, settledData(own));
const turn = (runId: string, n: number, proposals: [string, unknown][], text: string | null = null) =>
  message('TurnCompleted', about(runId), {
    turn: n,
    text,
    responseId: null,
    usage: { inputTokens: 1, outputTokens: 1 },
    proposals: proposals.map(([tool, args], i) => ({
      tool,
      arguments: JSON.stringify(args),
      providerCallId: `p${n}-${i}`,
    })),
  });
const names = (took: { message: Message }[]): string[] => took.map(({ message: { type } }) => type);
const data = <T extends Message['type']>(took: { message: Message }[], type: T) =>
  took.filter((t) => t.message.type === type).map((t) => t.message.data as MessageData<T>);

describe('the orchestrator on PostgreSQL', () => {
  let service: ServiceHarness;
  let clock: Clock & { ahead: number };
  beforeAll(async () => {
    clock = { ahead: 0, now: () => Date.now() + clock.ahead };
    service = await openService(orchestratorDoor, {
      reads,
      clock,
      env: { COUNTERSIGN_POOLS: 'default,other', COUNTERSIGN_ORCHESTRATOR_SWEEP_MS: '20' },
    });
  });
  afterAll(() => service.close());
  beforeEach(() => service.take());

  const view = (runId: string, tenant = 'dev') => service.read<RunView | null>('run', { tenant, runId });
  const version = async (runId: string) =>
    (
      await service.database.query<{ version: number }>({
        text: 'select version from run where run_id = $1',
        values: [runId],
      })
    )[0]?.version;

  it('takes a direct call through its two commits and shows it', async () => {
    const runId = newRun();
    await service.deliver('run.commands', startCall(runId));
    const took = service.take();
    expect(took.map((t) => [t.topic, t.message.type])).toEqual([
      ['run.events', 'RunStarted'],
      ['call.proposed', 'CallProposed'],
    ]);
    expect(await view(runId)).toMatchObject({
      tenant: 'dev',
      requestDigest: expect.stringMatching(/^sha256:/),
      status: 'awaiting_calls',
      driver: 'call',
      calls: [{ status: 'proposed', tool: 'ops.set_flag@1.0.0' }],
      endedAt: null,
    });
    await service.deliver('call.settled.default', settled(callIdOf(runId, 1), runId, { effect: 'applied' }));
    expect(names(service.take())).toEqual(['RunEnded']);
    expect(await view(runId)).toMatchObject({
      status: 'completed',
      outcome: 'all_succeeded',
      effects: [{ effect: 'applied' }],
    });
    expect(await version(runId)).toBe(2);
    expect(await view(runId, 'else')).toBeNull();
  });

  it('duplicates in one batch and in later ones decide nothing again and repeat what was said', async () => {
    const runId = newRun();
    const start = startCall(runId);
    await service.deliver('run.commands', start, start);
    const first = service.take();
    expect(names(first)).toEqual(['RunStarted', 'CallProposed', 'RunStarted']);
    await service.deliver('run.commands', start);
    const again = service.take();
    expect(names(again)).toEqual(['RunStarted']);
    expect(again[0]!.message).toMatchObject({ id: first[0]!.message.id, data: first[0]!.message.data });
    const end = settled(callIdOf(runId, 1), runId);
    await service.deliver('call.settled.default', end, end);
    await service.deliver('call.settled.default', end);
    expect(names(service.take())).toEqual(['RunEnded']);
    expect(await version(runId)).toBe(2);
  });

  it('numbers the runs of each tenant without gaps, in the order of their commits', async () => {
    const own = [newRun('t1'), newRun('t1'), newRun('t1')];
    await service.deliver(
      'run.commands',
      startCall(own[0]!, undefined, 't1'),
      startCall(own[1]!, undefined, 't1'),
      startCall(newRun('t2'), undefined, 't2'),
    );
    await service.deliver('run.commands', startCall(own[0]!, undefined, 't1'), startCall(own[2]!, undefined, 't1'));
    const started = service.take().filter((t) => t.message.type === 'RunStarted');
    expect(started.map((t) => [t.message.tenant, (t.message.data as { runNo?: number }).runNo])).toEqual([
      ['t1', 1],
      ['t1', 2],
      ['t2', 1],
      ['t1', 1],
      ['t1', 3],
    ]);
  });

  it('drives an agent run to its answer, with a restart between any two messages', async () => {
    const runId = newRun();
    await service.deliver('run.commands', startAgent(runId, { taskId: 'task-1' }));
    const other = await openService(orchestratorDoor, {
      reads,
      url: service.url,
      env: { COUNTERSIGN_POOLS: 'default,other' },
    });
    try {
      await other.deliver('model.responses', turn(runId, 1, [['ops__read_alerts', { service: 'pay' }]]));
      await service.deliver(
        'call.settled.default',
        settled(callIdOf(runId, 1), runId, { sources: ['a-1'], model: 'ALERTS' }),
      );
      await other.deliver(
        'model.responses',
        turn(runId, 2, [['ops__create_ticket', { severity: 'sev1', summary: 'x', evidence_ids: ['a-1'] }]]),
      );
      expect(data(other.take(), 'CallProposed').map((d) => d.operationKey)).toEqual([
        callIdOf(runId, 1),
        'dev/user:alice/task-1',
      ]);
      await service.deliver('call.settled.default', settled(callIdOf(runId, 2), runId, { effect: 'applied' }));
      await other.deliver('model.responses', turn(runId, 3, [], 'Ticket made.'));
      expect(data(other.take(), 'RunEnded')).toMatchObject([
        { status: 'completed', outcome: 'all_succeeded', callCount: 2, turns: 3, answer: 'Ticket made.' },
      ]);
      expect(data(service.take(), 'RequestTurn').map((d) => d.results.map((r) => r.output))).toEqual([
        [],
        ['ALERTS'],
        ['{"done":true}'],
      ]);
    } finally {
      await other.close();
    }
  });

  it('two reducers racing on one run start it once and settle it once', async () => {
    const other = await openService(orchestratorDoor, {
      reads,
      url: service.url,
      env: { COUNTERSIGN_POOLS: 'default,other' },
    });
    try {
      for (let i = 0; i < 10; i++) {
        const runs = [newRun('race'), newRun('race')];
        const starts = runs.map((runId) => startCall(runId, undefined, 'race'));
        await Promise.all([
          service.deliver('run.commands', ...starts),
          other.deliver('run.commands', ...[...starts].reverse()),
        ]);
        const ends = runs.map((runId) => settled(callIdOf(runId, 1), runId, {}, 'race'));
        await Promise.all([
          service.deliver('call.settled.default', ...ends),
          other.deliver('call.settled.default', ...[...ends].reverse()),
        ]);
      }
      const took = [...service.take(), ...other.take()];
      const count = (type: string) => names(took).filter((name) => name === type).length;
      expect([count('RunStarted'), count('CallProposed'), count('RunEnded')]).toEqual([40, 20, 20]);
      const numbers = await service.database.query<{ n: number; last: number }>({
        text: `select count(distinct run_no)::int n, max(run_no) last from run where tenant = 'race'`,
      });
      expect(numbers).toEqual([{ n: 20, last: 20 }]);
    } finally {
      await other.close();
    }
  });

  it('a settlement of another pool or tenant is dropped (G12)', async () => {
    const runId = newRun();
    await service.deliver('run.commands', startCall(runId));
    service.take();
    await service.deliver('call.settled.other', settled(callIdOf(runId, 1), runId));
    await service.deliver('call.decided', settled(callIdOf(runId, 1), runId));
    await service.deliver('call.settled.default', settled(callIdOf(runId, 1), runId, {}, 'else'));
    expect(service.take()).toEqual([]);
    expect(await version(runId)).toBe(1);
  });

  it('a contract that the registry does not have denies the call; while the registry is away nothing is decided (G13)', async () => {
    const runId = newRun();
    const start = startCall(runId);
    const digest = `sha256:${'9'.repeat(64)}`;
    await service.deliver('run.commands', {
      ...start,
      data: { ...start.data, toolset: [{ tool: 'ops.set_flag@1.0.0', digest }] },
    });
    expect(data(service.take(), 'CallSettled')).toMatchObject([{ status: 'rejected', error: { code: 'INTERNAL' } }]);
    const cut = await openService(orchestratorDoor, { url: service.url });
    const later = newRun();
    await expect(cut.deliver('run.commands', startCall(later))).rejects.toThrow('no fake');
    expect(await view(later)).toBeNull();
    await cut.close();
  });

  it('a run that a limit ended goes on after a raise, and ends for good by a cancel, over restarts (G8)', async () => {
    const runId = newRun();
    await service.deliver('run.commands', startAgent(runId, { budgets: { ...BUDGETS, maxTurns: 1 } }));
    await service.deliver('model.responses', turn(runId, 1, [['ops__list_regions', {}]]));
    await service.deliver('call.settled.default', settled(callIdOf(runId, 1), runId, { model: 'REGIONS' }));
    expect(await view(runId)).toMatchObject({
      status: 'budget_exhausted',
      episode: 1,
      cause: { limit: 'maxTurns' },
      usage: { inputTokens: 1, outputTokens: 1, costUsd: null },
    });
    const { principal } = startData('agent');
    const resume = message('ResumeRun', about(runId), { commandId: 'r1', principal, budgets: { maxTurns: 2 } });
    const again = message('ResumeRun', about(runId), { commandId: 'r2', principal, budgets: { maxTurns: 3 } });
    service.take();
    const other = await openService(orchestratorDoor, { reads, url: service.url });
    try {
      await other.deliver('run.commands', resume, resume, again);
      const took = other.take();
      expect(names(took)).toEqual(['RunResumed', 'RequestTurn', 'RunResumed', 'CommandRefused']);
      expect(data(took, 'RequestTurn')[0]!.results).toMatchObject([{ output: 'REGIONS' }]);
      expect(await view(runId)).toMatchObject({ status: 'awaiting_model', episode: 2, cause: null, endedAt: null });
      await service.deliver('run.commands', message('CancelRun', about(runId), { commandId: 'c1', principal }));
      expect(data(service.take(), 'RunEnded')).toMatchObject([{ status: 'cancelled', episode: 2 }]);
    } finally {
      await other.close();
    }
  });

  it('open work is sent again and wall clocks end by the database clock (G4, G8)', async () => {
    clock.ahead = -20_000;
    const [silent, asking, short] = [newRun(), newRun(), newRun()];
    await service.deliver(
      'run.commands',
      startCall(silent),
      startAgent(asking),
      startAgent(short, { budgets: { ...BUDGETS, maxTurns: 1, maxCalls: 1, maxParallel: 1, wallClockMs: 1000 } }),
    );
    clock.ahead = 0;
    service.take();
    await service.startWorkers();
    const seen: string[] = [];
    await until(() => {
      for (const { message: m } of service.take()) seen.push(`${m.type} ${m.runId}`);
      return (
        seen.includes(`CallProposed ${silent}`) &&
        seen.includes(`RequestTurn ${asking}`) &&
        seen.includes(`RunEnded ${short}`)
      );
    });
    expect(await view(short)).toMatchObject({ status: 'budget_exhausted', cause: { code: 'BUDGET_EXHAUSTED' } });
    expect(seen).not.toContain(`RunEnded ${asking}`);
  });
});
