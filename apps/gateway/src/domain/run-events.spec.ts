import fc from 'fast-check';
import { callIdOf, newId } from '#kernel';
import { runFacts, type FactAt } from '../../../../libs/contracts/testing/run-facts.ts';
import { tellNext, type RunEvent } from './run-events.ts';
import {
  foldProgress,
  progressOf,
  UNKNOWN,
  WATCHED_OF_RUNS,
  type RunMessage,
  type RunProgress,
} from './run-progress.ts';
import { decodeTold, encodeTold, nothingTold, type Told } from './stream-cursor.ts';

const watched = (facts: readonly FactAt[]): FactAt[] =>
  facts.filter(({ message }) => (WATCHED_OF_RUNS as readonly string[]).includes(message.type));

const fold = (known: RunProgress, { message, topic }: FactAt): RunProgress =>
  foldProgress(known, progressOf(message as RunMessage, topic));

const subjectOf = ({ data }: RunEvent): string => String(data.callId ?? 'run');
/** Without the request that a later one replaced: it is told only where it was seen in time. */
const lines = (events: readonly RunEvent[]): string[] =>
  events
    .map(({ type, data }) => `${type} ${JSON.stringify(data)}`)
    .filter((line) => !line.includes(`appr_${'1'.repeat(26)}`))
    .sort();

describe('the events of a run', () => {
  it('tell what happens, in the order in which it does', () => {
    const { runId, facts } = runFacts();
    const told = nothingTold();
    let known = UNKNOWN;
    const events: RunEvent[] = [];
    for (const fact of watched(facts)) {
      known = fold(known, fact);
      events.push(...tellNext(runId, told, known));
    }
    const asked = ['call.decided', 'approval.requested', 'approval.decided'];
    const [first] = events;
    expect(first).toMatchObject({ type: 'run.started', data: { runId, driver: 'agent', agent: 'triage' } });
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', data: { status: 'completed', turns: 2 } });
    const ofCall = Map.groupBy(
      events.filter(({ data }) => data.callId !== undefined),
      subjectOf,
    );
    expect([...ofCall.values()].map((own) => own.map(({ type }) => type))).toEqual(
      expect.arrayContaining([
        ['call.proposed', 'call.decided', 'call.settled'],
        ['call.proposed', ...asked, ...asked, 'call.settled'],
        ['call.proposed', 'call.settled'],
      ]),
    );
    expect(JSON.stringify(events)).not.toMatch(/sanitized|for the model alone|never shown/);
  });

  it('are the same whatever the order of the facts and their repeats, and nothing comes before run.started or after run.ended', () => {
    const { runId, facts } = runFacts();
    const all = watched(facts);
    const expected = lines(tellNext(runId, nothingTold(), all.reduce(fold, UNKNOWN)));
    fc.assert(
      fc.property(fc.shuffledSubarray([...all.keys(), ...all.keys()], { minLength: all.length * 2 }), (order) => {
        const told = nothingTold();
        let known = UNKNOWN;
        const events: RunEvent[] = [];
        for (const index of order) {
          known = fold(known, all[index]!);
          events.push(...tellNext(runId, told, known));
        }
        expect(lines(events)).toEqual(expected);
        expect(events[0]!.type).toBe('run.started');
        expect(events.at(-1)!.type).toBe('run.ended');
      }),
      { numRuns: 200 },
    );
  });

  it('go on behind any id, at any process: none is missed and none comes twice', () => {
    const { runId, facts } = runFacts();
    const all = watched(facts);
    const expected = lines(tellNext(runId, nothingTold(), all.reduce(fold, UNKNOWN)));
    fc.assert(
      fc.property(fc.shuffledSubarray([...all.keys()], { minLength: all.length }), fc.nat(), (order, cut) => {
        const before: RunEvent[] = [];
        const told = nothingTold();
        let known = UNKNOWN;
        for (const index of order) {
          known = fold(known, all[index]!);
          before.push(...tellNext(runId, told, known));
        }
        const kept = before.slice(0, (cut % before.length) + 1);
        const resumed = decodeTold(runId, kept.at(-1)!.id)!;
        const after = tellNext(runId, resumed, all.reduce(fold, UNKNOWN));
        expect(lines([...kept, ...after])).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('a run that was resumed begins and ends again', () => {
    const { runId, facts } = runFacts();
    const told = nothingTold();
    let known = watched(facts).reduce(fold, UNKNOWN);
    tellNext(runId, told, known);
    known = foldProgress(known, { ...UNKNOWN, phase: 3 });
    expect(tellNext(runId, told, known)).toMatchObject([{ type: 'run.resumed', data: { episode: 2 } }]);
    known = foldProgress(known, { ...UNKNOWN, phase: 4, ended: { ...known.ended!, episode: 2 }, callCount: 3 });
    expect(tellNext(runId, told, known)).toMatchObject([{ type: 'run.ended', data: { episode: 2 } }]);
    expect(tellNext(runId, told, known)).toEqual([]);
  });
});

describe('orders of people', () => {
  it('are told once, the last one only, and a stream goes on after them', () => {
    const runId = newId('run');
    const told = nothingTold();
    const started = { driver: 'agent', agent: null, taskId: null, labels: {}, startedAt: 't' };
    const known = foldProgress({ ...UNKNOWN, phase: 1, started }, { ...UNKNOWN, controls: 2, control: 'taken_over' });
    const late = foldProgress(known, { ...UNKNOWN, controls: 1, control: 'paused' });
    const events = tellNext(runId, told, late);
    expect(events.map(({ type }) => type)).toEqual(['run.started', 'run.controlled']);
    expect(events[1]!.data).toMatchObject({ control: 'taken_over' });
    expect(tellNext(runId, decodeTold(runId, events[1]!.id)!, late)).toEqual([]);
    expect(tellNext(runId, decodeTold(runId, events[0]!.id)!, late)).toMatchObject([{ type: 'run.controlled' }]);
  });
});

describe('the id of an event', () => {
  const told = (runId: string, calls: number): Told => ({
    phase: 1,
    turns: 3,
    controls: calls % 2,
    approvals: new Map([['22222222', 3]]),
    calls: new Map(
      Array.from({ length: calls }, (_, i) => [String(callIdOf(runId, ['k', String(i)]).slice(32, 40)), i % 2]),
    ),
  });

  it('holds what was told, of numbered and of named calls', () => {
    const runId = newId('run');
    const some: Told = told(runId, 5);
    for (let i = 1; i <= 40; i++) some.calls.set(i.toString(36), i === 7 ? 1 : 2);
    const id = encodeTold(runId, some);
    expect(id).toMatch(/^[\x21-\x7e]+$/);
    const read = decodeTold(runId, id)!;
    expect(read).toMatchObject({ phase: 1, turns: 3, approvals: some.approvals });
    expect([...read.calls].sort()).toEqual([...some.calls].sort());
    expect(encodeTold(runId, read)).toBe(id);
  });

  it('fits a header also when the run has all the calls that it may have', () => {
    const runId = newId('run');
    const id = encodeTold(runId, told(runId, 1000));
    expect(id.length).toBeLessThan(12_000);
    expect(decodeTold(runId, id)!.calls.size).toBe(1000);
  });

  it.each([
    '',
    '1',
    '7',
    'x',
    '1.......',
    '1.aaaaaa.1.0..',
    '1.aaaaaa.1.0.zz:1-zzzz.',
    '2.000000.1.0..',
    '1.000000.1.0.0:1;.',
  ])('another text is none: %p', (text) => {
    expect(decodeTold(newId('run'), text)).toBeNull();
  });

  it('of another run is none; one that names too much is none', () => {
    const [mine, other] = [newId('run'), newId('run')];
    const id = encodeTold(mine, told(mine, 2));
    expect(decodeTold(other, id)).toBeNull();
    expect(decodeTold(mine, encodeTold(mine, nothingTold()).replace(/\.$/, '0:1-zzzz.'))).toBeNull();
  });
});
