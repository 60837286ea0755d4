import { grantedTopic, message, type CallReconciled, type Message, type Resolution } from '#contracts';
import type { Log } from '#runtime';
import {
  failed,
  grant,
  openExecutor,
  POOL,
  tool,
  until,
  answered,
  type Executor,
  type RigOptions,
} from '../testing/executor-rig.ts';

describe('what people say of outcomes', () => {
  let executor: Executor;
  const open = async (own: RigOptions = {}): Promise<void> => {
    executor = await openExecutor({
      run: ({ callId }) => (callId === acts ? answered({}) : failed('maybe_sent', false)),
      ...own,
    });
  };
  let acts: string | undefined;
  afterEach(() => executor.close());

  const say = (about: Message, resolution: Resolution, by = 'olga'): Promise<void> =>
    executor.deliver(
      grantedTopic(POOL),
      message(
        'ReconcileCall',
        { tenant: 'dev', runId: about.runId!, callId: about.callId!, now: Date.now() },
        {
          commandId: `cmd-${resolution}-${by}`,
          principal: { id: `user:${by}`, kind: 'user', roles: ['operator'] },
          resolution,
          evidence: 'looked into the ledger',
        },
      ),
    );
  const unknownCall = async (own: Parameters<typeof tool>[0] = {}) => {
    const granted = grant({ of: tool(own) });
    await executor.deliverGrants(granted);
    expect(await executor.settlement(granted.callId!)).toMatchObject({ status: 'outcome_unknown' });
    return granted;
  };
  const said = (callId: string): CallReconciled[] =>
    (executor.messagesOf('CallReconciled') as Message<'CallReconciled'>[])
      .filter((one) => one.callId === callId)
      .map(({ data }) => data);
  const again = async (first: Message<'CallGranted'>) => {
    const next = grant({
      of: tool({ retry: { attempts: 1, backoffMs: 1, capMs: 1 } }),
      operationKey: first.data.operationKey,
    });
    acts = next.callId;
    await executor.deliverGrants(next);
    return executor.settlement(next.callId!);
  };
  const once = { retry: { attempts: 1, backoffMs: 1, capMs: 1 } };

  it.each([
    ['completes', 'applied', { status: 'succeeded', replayed: true }],
    ['closes', 'not_applied', { status: 'succeeded', replayed: false }],
  ] as const)(
    'G7 a key that was applied in part stays closed until a person %s it',
    async (_what, resolution, expected) => {
      await open();
      const granted = await unknownCall(once);
      await say(granted, 'partially_applied');
      expect(await again(granted)).toMatchObject({ status: 'outcome_unknown', replayed: true });
      await say(granted, 'partially_applied', 'otto');
      await say(granted, resolution);
      expect(said(granted.callId!).filter(({ amendment }) => amendment === 2)).toMatchObject([
        { status: resolution === 'applied' ? 'succeeded' : 'failed' },
      ]);
      expect(await again(granted)).toMatchObject(expected);
      await say(granted, resolution === 'applied' ? 'not_applied' : 'applied', 'otto');
      expect(said(granted.callId!).some(({ amendment }) => amendment > 2)).toBe(false);
    },
  );

  it('with four eyes one person alone does not close what was applied in part', async () => {
    await open({ env: { COUNTERSIGN_RESOLVE_FOUR_EYES: 'true' } });
    const granted = await unknownCall();
    await say(granted, 'partially_applied');
    await say(granted, 'partially_applied', 'otto');
    await say(granted, 'applied');
    expect(said(granted.callId!).at(-1)).toMatchObject({
      status: 'needs_human',
      effect: 'partial',
      proposed: 'applied',
    });
    await say(granted, 'applied', 'otto');
    expect(said(granted.callId!).at(-1)).toMatchObject({ status: 'succeeded' });
  });

  it('of a call that this journal has no record of: refused, so that nobody waits; a repeat is the same message', async () => {
    await open();
    const stranger = grant();
    await say(stranger, 'applied');
    await say(stranger, 'applied');
    const refusals = await until(() => {
      const found = executor.messagesOf('ResolutionRefused');
      return found.length > 1 ? found : undefined;
    });
    expect(refusals[0]!.data).toMatchObject({ commandId: 'cmd-applied-olga', code: 'INVALID_ARGS' });
    expect(refusals[1]!.id).toBe(refusals[0]!.id);
    expect(said(stranger.callId!)).toEqual([]);
  });

  it('one that stays unknown for long is a warning in the log that names nothing, and stands in the read port', async () => {
    const lines: unknown[][] = [];
    const quiet = () => undefined;
    const log = {
      info: quiet,
      debug: quiet,
      error: quiet,
      warn: (...line: unknown[]) => lines.push(line),
      child: () => log,
    } as never as Log;
    await open({ log, env: { COUNTERSIGN_RECONCILE_MS: '20', COUNTERSIGN_UNKNOWN_ALARM_MS: '1000' } });
    const granted = await unknownCall();
    const alarm = await until(() => lines.find(([, text]) => String(text).includes('unknown for long')));
    expect(alarm[0]).toEqual({ open: 1, needsHuman: 0, oldestMs: expect.any(Number) });
    expect(JSON.stringify(alarm)).not.toContain(granted.callId);
    expect(await executor.read('unknowns', {})).toMatchObject({ open: 1 });
  });
});
