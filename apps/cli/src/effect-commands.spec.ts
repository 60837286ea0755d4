import { openEmbedded } from '../../../test/e2e/open-embedded.ts';
import { ask, type System } from '../../../test/e2e/system.ts';
import { startWorld, type World } from '../../../test/e2e/world.ts';
import { until } from '../../../libs/runtime/testing/service-harness.ts';
import { runCli, type CliAnswer } from '../testing/run-cli.ts';
import type { RunView, UnknownView } from './client/views.ts';

const ALICE = 'dev.dev.alice.agent';
const OLGA = 'dev.dev.olga.operator';
const WAIT = { prefer: 'wait=30' };

interface History {
  readonly items: readonly { readonly what: string; readonly outcome?: string; readonly status?: string }[];
}

/** The real command against a real installation, whose source systems hang and refuse. */
describe('commands about effects', () => {
  let world: World;
  let system: System;
  const as = (token: string, ...args: string[]): Promise<CliAnswer> =>
    runCli(args, { COUNTERSIGN_URL: system.gateway, COUNTERSIGN_TOKEN: token });
  const post = <T>(path: string, body: unknown, headers: Record<string, string> = WAIT) =>
    ask<T>(system, 'alice', 'POST', path, body, headers);
  const view = async (runId: string): Promise<RunView> =>
    (await ask<RunView>(system, 'alice', 'GET', `/v1/runs/${runId}`)).body;
  const begin = async (tool: string): Promise<string> => {
    const { body } = await post<RunView>('/v1/runs', { driver: 'client', toolset: [tool], taskId: `cli-${tool}` }, {});
    return body.runId;
  };
  beforeAll(async () => {
    world = await startWorld();
    system = await openEmbedded(world);
  });
  afterAll(async () => {
    await system.close();
    await world.close();
  }, 120_000);

  it('an unknown outcome is listed, shown and resolved with evidence; by one who may, and once (G9)', async () => {
    await post('/v1/calls', { tool: 'probe.slow_item', arguments: { item: 'hang-cli' }, taskId: 'cli-unknown' });
    const listed = await as(OLGA, 'unknowns', 'list', '--json');
    const { items } = JSON.parse(listed.stdout) as { items: UnknownView[] };
    const { callId } = items[0]!;
    expect((await as(OLGA, 'unknowns', 'list')).stdout).toMatch(new RegExp(`${callId} +probe\\.slow_item.* a person`));
    expect((await as(OLGA, 'unknowns', 'show', callId)).stdout).toMatch(/status +outcome_unknown/);
    const resolve = (token: string, how: string) =>
      as(token, 'unknowns', 'resolve', callId, '--as', how, '--evidence', 'the ledger shows it', '--yes');
    const denied = await resolve(ALICE, 'applied');
    expect([denied.code, denied.stderr]).toEqual([4, expect.stringContaining('PERMISSION_DENIED')]);
    const said = await resolve(OLGA, 'applied');
    expect([said.code, said.stdout]).toEqual([0, expect.stringContaining('the call is now "succeeded"')]);
    const late = await resolve(OLGA, 'not-applied');
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('"succeeded"')]);
    const shown = await as(OLGA, 'unknowns', 'show', callId);
    expect(shown.stdout).toMatch(/found out by +person \(user:olga\)/);
    expect(shown.stdout).toContain('Evidence (untrusted)\nthe ledger shows it');
    expect((await as(OLGA, 'unknowns', 'list')).stdout).toContain('no outcome is unknown');
  }, 120_000);

  it('a run goes back; what could not be undone is shown, and settled with evidence (G9)', async () => {
    const runId = await begin('booking.book');
    const booked = await post<{ calls: { callId: string }[] }>(`/v1/runs/${runId}/calls`, {
      calls: [{ tool: 'booking.book', arguments: { seat: 'cli-1' } }],
    });
    const { callId } = booked.body.calls[0]!;
    world.office.stuck.add('cli-1');
    const partial = await as(ALICE, 'runs', 'compensate', runId);
    expect([partial.code, partial.stdout]).toEqual([0, expect.stringMatching(/way back +partial/)]);
    expect(partial.stdout).toContain(`${callId}: undo_failed`);
    expect(partial.stdout).toContain(`takes back ${callId}`);
    const unfit = await as(ALICE, 'runs', 'compensate', runId, '--skip', callId);
    expect([unfit.code, unfit.stderr]).toEqual([2, expect.stringContaining('the id of a call, "=" and why')]);
    const done = await as(ALICE, 'runs', 'compensate', runId, '--done', `${callId}=cancelled at the desk`);
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/way back +done/)]);
    const told = await until(async () => {
      const { items } = JSON.parse((await as(ALICE, 'calls', 'history', callId, '--json')).stdout) as History;
      return items.filter(({ what }) => what === 'way_back_ended').length === 2 ? items : null;
    });
    expect(told.map(({ what, outcome, status }) => [what, outcome ?? status])).toEqual([
      ['proposed', undefined],
      ['allowed', undefined],
      ['settled', 'succeeded'],
      ['way_back_began', 'to_be_undone'],
      ['undo_settled', 'failed'],
      ['way_back_ended', 'undo_failed'],
      ['way_back_began', 'done'],
      ['way_back_ended', 'undone'],
    ]);
    const text = await as(ALICE, 'calls', 'history', callId);
    expect([text.code, text.stdout]).toEqual([0, expect.stringMatching(/way back ended +outcome=undone/)]);
    expect(text.stdout + JSON.stringify(told)).not.toMatch(/cancelled at the desk|cli-1/);
    const foreign = await as('dev.else.eve.operator', 'calls', 'history', callId);
    expect([foreign.code, foreign.stderr]).toEqual([expect.any(Number), expect.stringContaining('NOT_FOUND')]);
  }, 120_000);

  it('a cancelled run tells what came of its calls, with the evidence (G9)', async () => {
    const runId = await begin('probe.store_item');
    const item = 'hang-cancelled';
    await post(`/v1/runs/${runId}/calls`, { calls: [{ tool: 'probe.store_item', arguments: { item } }] }, {});
    await until(() => world.sink.state().byItem[item]);
    const cancelled = await as(ALICE, 'runs', 'cancel', runId, '--reason', 'not needed');
    expect([cancelled.code, cancelled.stdout]).toEqual([0, expect.stringContaining(`run ${runId}`)]);
    await until(async () => ((await view(runId)).status === 'cancelled' ? true : null));
    expect((await as(ALICE, 'runs', 'show', runId)).stdout).toMatch(/outcome_unknown .*unknown \(no answer\)/);
  }, 120_000);
});
