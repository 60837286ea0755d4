import type { ProposeCalls } from '#contracts';
import { alice } from '../../testing/fixtures.ts';
import { begin, id } from '../../testing/limited-run.ts';
import { callIds, types, type Scene } from '../../testing/scene.ts';

type Asked = Omit<ProposeCalls['proposals'][number], 'callId' | 'tool' | 'arguments'>;
let serial = 0;

const READ = { tool: 'ops.read_alerts', arguments: '{"service":"a"}' };
const flag = (name: string) => ({ tool: 'ops.set_flag', arguments: JSON.stringify({ name }) });

/** Proposals n, n + 1, … of the run. */
function propose(scene: Scene, first: number, ...asked: readonly (Asked & { tool: string; arguments: string })[]) {
  const commandId = `cmd-${++serial}`;
  const proposals = asked.map((one, i) => ({ ...one, callId: id(first + i) }));
  const requestDigest = `sha256:${String(serial).padStart(64, '0')}`;
  return scene.say('ProposeCalls', { commandId, principal: alice, requestDigest, proposals });
}
const proposed = (scene: Scene) => callIds(scene.all('CallProposed'));

describe('what a client says that its calls wait for', () => {
  it('a call waits for exactly those that it names, wherever they stand; the order stays for the others', () => {
    const scene = begin({}, 'client');
    propose(
      scene,
      1,
      { ...flag('a'), providerCallId: 'a', dependsOn: ['c'] },
      { ...flag('b'), providerCallId: 'b' },
      { ...flag('c'), providerCallId: 'c', dependsOn: [] },
      { ...flag('d'), providerCallId: 'd' },
    );
    expect(proposed(scene)).toEqual([id(2), id(3)]);
    expect(callIds(scene.settle(id(3)))).toEqual([id(1)]);
    expect(callIds(scene.settle(id(2)))).toEqual([id(4)]);
  });

  it('it names calls of earlier requests, by our id or by its own', () => {
    const scene = begin({}, 'client');
    propose(scene, 1, { ...READ, providerCallId: 'first' });
    propose(scene, 2, { ...flag('a'), dependsOn: ['first'] }, { ...flag('b'), dependsOn: [id(1), 'first'] });
    expect(proposed(scene)).toEqual([id(1)]);
    expect(callIds(scene.settle(id(1)))).toEqual([id(2), id(3)]);
    propose(scene, 4, { ...flag('c'), dependsOn: [id(1)] });
    expect(proposed(scene)).toContain(id(4));
  });

  it.each(['failed', 'outcome_unknown', 'denied', 'expired'] as const)(
    'one that is %s ends all that wait for it, through others as well; nothing of it was begun (G9)',
    (status) => {
      const scene = begin({}, 'client');
      propose(
        scene,
        1,
        { ...READ, providerCallId: 'x', dependsOn: ['y'] },
        { ...flag('b'), providerCallId: 'y', dependsOn: ['z'] },
        { ...flag('c'), providerCallId: 'z' },
        READ,
      );
      const from = status === 'denied' || status === 'expired' ? 'policy' : 'executor';
      const source = from === 'policy' ? ({ kind: 'policy' } as const) : ({ kind: 'pool', pool: 'default' } as const);
      scene.settle(
        id(3),
        { status, settledBy: from, effect: status === 'outcome_unknown' ? 'unknown' : 'none' },
        source,
      );
      expect(proposed(scene)).toEqual([id(3), id(4)]);
      for (const callId of [id(1), id(2)])
        expect(scene.call(callId)).toMatchObject({ status: 'rejected', errorCode: 'DEPENDENCY_FAILED' });
    },
  );

  it('what does not fit its contract ends what waits for it at once', () => {
    const scene = begin({}, 'client');
    propose(scene, 1, { ...flag('a'), dependsOn: ['bad'] }, { ...flag('b'), arguments: '{}', providerCallId: 'bad' });
    expect(scene.call(id(1))).toMatchObject({ status: 'rejected', errorCode: 'DEPENDENCY_FAILED' });
    expect(scene.all('CallProposed')).toEqual([]);
  });

  it.each([
    ['itself', [{ ...READ, providerCallId: 'a', dependsOn: ['a'] }], ['/calls/0/dependsOn/0']],
    [
      'nothing that is there',
      [{ ...READ, dependsOn: ['other', id(9)] }],
      ['/calls/0/dependsOn/0', '/calls/0/dependsOn/1'],
    ],
    [
      'a circle',
      [
        { ...READ, providerCallId: 'a', dependsOn: ['b'] },
        { ...READ, providerCallId: 'b', dependsOn: ['c', 'd'] },
        { ...READ, providerCallId: 'c', dependsOn: ['a'] },
        { ...READ, providerCallId: 'd' },
      ],
      ['/calls/0/dependsOn/0', '/calls/1/dependsOn/0', '/calls/2/dependsOn/0'],
    ],
    [
      'several calls by one name',
      [
        { ...READ, providerCallId: 'a' },
        { ...READ, providerCallId: 'a' },
        { ...READ, dependsOn: ['a'] },
      ],
      ['/calls/2/dependsOn/0'],
    ],
  ])(
    'a request that names %s is one INVALID_ARGS with its places, and nothing of it is taken',
    (_what, asked, paths) => {
      const scene = begin({}, 'client');
      const out = propose(scene, 1, ...asked);
      expect(types(out)).toEqual(['CommandRefused']);
      const { code, details } = scene.all('CommandRefused')[0]!.data;
      expect([code, details?.map(({ path }) => path)]).toEqual(['INVALID_ARGS', paths]);
      expect(scene.run!.state.calls).toEqual([]);
    },
  );

  it('an id of another run names nothing', () => {
    const scene = begin({}, 'client');
    propose(scene, 1, { ...READ, dependsOn: ['call_01hzzzzzzz0000000000000001-1'] });
    expect(scene.all('CommandRefused')).toHaveLength(1);
  });
});
