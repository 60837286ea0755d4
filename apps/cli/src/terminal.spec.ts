import path from 'node:path';
import { openEmbedded } from '../../../test/e2e/open-embedded.ts';
import { ask, type System } from '../../../test/e2e/system.ts';
import { startWorld, type World } from '../../../test/e2e/world.ts';
import { until } from '../../../libs/runtime/testing/service-harness.ts';
import { hasTerminal, runInTerminal, type Terminal } from '../testing/run-in-terminal.ts';
import type { ApprovalView } from './client/views.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const NODE = [process.execPath, '--conditions=development', '--no-warnings'];
const ESCAPE = '\u001b[';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

const terminal = hasTerminal();
if (!terminal) console.warn('TERMINAL TESTS SKIPPED: there is no python3 with pty');
describe('the command at a terminal', () => {
  let world: World;
  let system: System;
  let asked = 0;
  beforeAll(async () => {
    world = await startWorld();
    system = await openEmbedded(world);
  });
  afterAll(async () => {
    await system.close();
    await world.close();
  });

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Terminal =>
    runInTerminal(
      [...NODE, path.join(ROOT, 'apps/cli/src/main.ts'), ...args],
      { COUNTERSIGN_URL: system.gateway, COUNTERSIGN_TOKEN: 'dev.dev.bob.approver', ...env },
      ROOT,
    );
  const pending = async (): Promise<ApprovalView> => {
    const item = `terminal-${++asked}`;
    const call = { tool: 'probe.guarded_write', arguments: { item }, taskId: item };
    const { body } = await ask<{ callId: string }>(system, 'alice', 'POST', '/v1/calls', call);
    return until(async () => {
      const { body: page } = await ask<{ items: ApprovalView[] }>(system, 'bob', 'GET', '/v1/approvals?status=pending');
      return page.items.find(({ callId }) => callId === body.callId);
    });
  };
  const look = async ({ approvalId }: ApprovalView): Promise<ApprovalView> =>
    (await ask<ApprovalView>(system, 'bob', 'GET', `/v1/approvals/${approvalId}`)).body;

  it('is in colours, unless NO_COLOR says otherwise', async () => {
    if (!terminal) return;
    for (const [env, coloured] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
    ] as const) {
      const listing = run(['tools', 'list'], env);
      expect([await listing.ended, listing.screen().includes(ESCAPE), listing.screen()]).toEqual([
        0,
        coloured,
        expect.stringContaining('probe.guarded_write') as string,
      ]);
    }
  });

  it('shows what is asked, asks until it is a yes or a no, and decides by what was shown (G3)', async () => {
    if (!terminal) return;
    const approval = await pending();
    const approve = run(['approvals', 'approve', approval.approvalId]);
    await approve.answer('Approve exactly this? [y/n]', 'perhaps\r');
    await approve.answer('Approve exactly this? [y/n]', 'y\r');
    await approve.answer('Reason (may be empty):', 'looked at it\r');
    expect([await approve.ended, approve.screen()]).toEqual([0, expect.stringContaining('approved by user:bob')]);
    expect(approve.screen()).toContain(approval.digest);
    expect(approve.screen()).toContain(`"item": "terminal-${asked}"`);
    expect(await look(approval)).toMatchObject({ decidedBy: 'user:bob', reason: 'looked at it' });
  });

  it.each([
    ['a no', 'n\r', null],
    ['the end of input', CTRL_D, null],
    ['an interrupt', CTRL_C, null],
    ['an interrupt at the reason', 'y\r', CTRL_C],
    ['the end of input at the reason', 'y\r', CTRL_D],
  ] as const)('%s decides nothing', async (_, first, second) => {
    if (!terminal) return;
    const approval = await pending();
    const approve = run(['approvals', 'approve', approval.approvalId]);
    await approve.answer('Approve exactly this? [y/n]', first);
    if (second !== null) await approve.answer('Reason (may be empty):', second);
    expect([await approve.ended, approve.screen()]).toEqual([1, expect.stringContaining('nothing was decided')]);
    expect(await look(approval)).toMatchObject({ status: 'pending', decidedBy: null });
  });

  it.each([
    ['yes\r', 'true'],
    ['N\r', 'false'],
    [CTRL_D, 'false'],
    [CTRL_C, 'false'],
  ] as const)("the demo's question answered by %j is %s", async (keys, answer) => {
    if (!terminal) return;
    const program = `import { openScreen } from './apps/cli/src/demo/screen.ts';
      const screen = openScreen(false, false);
      screen.title('Demo');
      console.log('answered ' + (await screen.ask('Approve?')) + ' ' + screen.interactive);`;
    const demo = runInTerminal([...NODE, '--input-type=module', '-e', program], {}, ROOT);
    await demo.answer('Approve? [y/n]', keys);
    expect([await demo.ended, demo.screen()]).toEqual([0, expect.stringContaining(`answered ${answer} true`)]);
    expect(demo.screen()).toContain(`${ESCAPE}1mDemo`);
  });
});
