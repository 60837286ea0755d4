import { BUDGETS, failedData, settledData } from '../../testing/fixtures.ts';
import { alerts, begin, end, flag, id, view } from '../../testing/limited-run.ts';
import { callIds, Scene, types } from '../../testing/scene.ts';

const errors = (scene: Scene) => scene.all('CallSettled').map((e) => [e.callId, e.data.error?.code]);

/** Turns of one call each that all end with the same view. */
function loop(scene: Scene, from: number, to: number, model: (n: number) => string = () => 'SAME'): void {
  for (let n = from; n <= to; n++) {
    scene.turn(n, alerts());
    if (scene.call(id(n)).state === 'proposed') scene.settle(id(n), view(model(n)));
  }
}

describe('every limit ends a run with its name, its use and the way on (G8)', () => {
  it('tokens: a request that would pass maxInputTokens is not made', () => {
    const scene = begin({ maxInputTokens: 100 });
    scene.turn(1, alerts());
    expect(scene.run!.state.used).toMatchObject({ inputTokens: 10, outputTokens: 5, contextTokens: 15 });
    expect(types(scene.settle(id(1), view('x'.repeat(300))))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({
      status: 'budget_exhausted',
      cause: {
        code: 'BUDGET_EXHAUSTED',
        limit: 'maxInputTokens',
        message: expect.stringContaining('10 tokens were used'),
      },
      usage: { inputTokens: 10, outputTokens: 5, resultBytes: 300 },
    });
  });

  it('tokens: an input that cannot fit is never sent at all', () => {
    const scene = new Scene();
    const own = { budgets: { ...BUDGETS, maxInputTokens: 50 }, input: 'x'.repeat(400) };
    expect(types(scene.start('agent', own))).toEqual(['RunStarted', 'RunEnded']);
  });

  it('tokens: each request carries what is left for the answer; without room for one it is not made', () => {
    const scene = begin({ maxOutputTokens: 24 });
    expect(scene.all('RequestTurn')[0]!.data.limits).toEqual({ maxOutputTokens: 24, maxCostUsd: null });
    scene.turn(1, alerts());
    scene.settle(id(1));
    expect(scene.all('RequestTurn')[1]!.data.limits!.maxOutputTokens).toBe(19);
    scene.turn(2, alerts('b'));
    expect(types(scene.settle(id(2)))).toEqual(['RunEnded']);
    expect(end(scene).cause).toMatchObject({ limit: 'maxOutputTokens', message: expect.stringContaining('10 tokens') });
  });

  it('tokens that the provider does not tell count as what was seen of them, never as none', () => {
    const scene = begin({});
    const usage = { inputTokens: null, outputTokens: null };
    const args = JSON.stringify({ service: 'a' });
    const proposals = [{ tool: 'ops__read_alerts', arguments: args, providerCallId: 'p' }];
    scene.say('TurnCompleted', { turn: 1, proposals, text: null, responseId: null, usage });
    expect(scene.run!.state.used.inputTokens).toBeGreaterThan(0);
    expect(scene.run!.state.used.outputTokens).toBeGreaterThan(0);
  });

  it('cost: what is left goes with the request; a cost that is used up ends the run; an unknown one is shown as unknown', () => {
    const scene = begin({ maxCostUsd: 0.5, allowUnknownCost: false });
    expect(scene.all('RequestTurn')[0]!.data.limits!.maxCostUsd).toBe(0.5);
    const proposals = [{ tool: 'ops__read_alerts', arguments: '{"service":"a"}', providerCallId: 'p' }];
    const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.5 };
    scene.say('TurnCompleted', { turn: 1, proposals, text: null, responseId: null, usage });
    expect(types(scene.settle(id(1)))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({ cause: { limit: 'maxCostUsd' }, usage: { costUsd: 0.5 } });
    const unknown = begin({});
    unknown.answer(1, 'Done.');
    expect(end(unknown).usage!.costUsd).toBeNull();
  });

  it('a turn that the model adapter refused for a limit ends the run by that limit, and nothing is charged', () => {
    const scene = begin({ maxTurns: 1, maxCostUsd: 1, allowUnknownCost: false });
    const message = 'no price is known for model-x';
    scene.say('TurnFailed', { turn: 1, code: 'BUDGET_EXHAUSTED', message, limit: 'allowUnknownCost' });
    expect(end(scene)).toMatchObject({
      status: 'budget_exhausted',
      cause: { limit: 'allowUnknownCost', message: expect.stringContaining(message) },
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect(types(scene.resume({ allowUnknownCost: true }))).toEqual(['RunResumed', 'RequestTurn']);
    expect(scene.all('RequestTurn')[1]!.data).toMatchObject({ turn: 2, results: [], limits: { maxCostUsd: null } });
  });

  it('result bytes: what is too much for the model is kept, and given to it after a raise', () => {
    const scene = begin({ maxResultBytes: 10 });
    scene.turn(1, alerts());
    expect(types(scene.settle(id(1), view('12345678901')))).toEqual(['RunEnded']);
    expect(end(scene).cause!.limit).toBe('maxResultBytes');
    scene.resume({ maxResultBytes: 11 });
    expect(scene.all('RequestTurn')[1]!.data.results).toMatchObject([{ output: '12345678901' }]);
  });

  it('a run may leave a person less time than the contract does', () => {
    const scene = begin({ approvalTtlMs: 60_000 });
    scene.turn(1, flag());
    expect(scene.all('CallProposed')[0]!.data).toMatchObject({
      approvalTtlMs: 60_000,
      runDeadline: scene.now + BUDGETS.wallClockMs + 60_000,
    });
    expect(begin({}).turn(1, flag()).at(-1)!.data).not.toHaveProperty('approvalTtlMs');
  });
});

describe('repetition is recognised by what is done and what came of it', () => {
  it('the same call with the same result is refused after maxRepeats, with advice; insisting ends the run', () => {
    const scene = begin({ maxRepeats: 2 });
    loop(scene, 1, 3);
    expect(errors(scene)).toEqual([[id(3), 'REPEATED_CALL']]);
    expect(scene.all('RequestTurn').at(-1)!.data.results[0]!.output).toContain('nothing changed');
    expect(types(scene.turn(4, alerts()))).toEqual(['TurnRecorded', 'CallSettled', 'RunEnded']);
    expect(end(scene)).toMatchObject({
      status: 'budget_exhausted',
      cause: { code: 'REPEATED_CALL', limit: 'maxRepeats' },
      callCount: 4,
    });
  });

  it('key order and white space do not make equal arguments different', () => {
    const scene = begin({ maxRepeats: 1 });
    scene.turn(1, ['ops__set_flag', '{"name":"a","on":true}']);
    scene.settle(id(1));
    scene.turn(2, ['ops__set_flag', '{ "on" : true, "name" : "a" }']);
    expect(errors(scene)).toEqual([[id(2), 'REPEATED_CALL']]);
  });

  it('polling with changing answers goes on, and a change begins the count anew', () => {
    const scene = begin({ maxRepeats: 2 });
    loop(scene, 1, 6, (n) => `progress ${n}`);
    loop(scene, 7, 7, () => 'progress 6');
    expect(errors(scene)).toEqual([]);
    loop(scene, 8, 8);
    expect(errors(scene)).toEqual([[id(8), 'REPEATED_CALL']]);
  });

  it('equal calls of one turn: those beyond maxRepeats wait for what the first bring', () => {
    const scene = begin({ maxRepeats: 2 });
    scene.turn(1, alerts(), alerts(), alerts(), alerts());
    expect(callIds(scene.all('CallProposed'))).toEqual([id(1), id(2)]);
    scene.settle(id(2), view('A'));
    expect(callIds(scene.settle(id(1), view('B')))).toEqual([id(3)]);
    scene.settle(id(3), view('A'));
    expect(errors(scene)).toEqual([[id(4), 'REPEATED_CALL']]);
  });

  it.each(['PERMISSION_DENIED', 'APPROVAL_DENIED'] as const)(
    'a call that ended %s is refused as before when it is proposed again, and nobody is asked; insisting ends the run',
    (code) => {
      const scene = begin({});
      scene.turn(1, flag());
      scene.settle(id(1), { ...failedData('denied', code), settledBy: 'policy' }, { kind: 'policy' });
      expect(types(scene.turn(2, flag(), alerts()))).toEqual(['TurnRecorded', 'CallSettled', 'CallProposed']);
      expect(errors(scene)).toEqual([[id(2), code]]);
      expect(callIds(scene.all('CallProposed'))).toEqual([id(1), id(3)]);
      expect(scene.all('CallSettled')[0]!.data.error!.message).toContain('nobody is asked again');
      scene.settle(id(3));
      expect(types(scene.turn(3, flag()))).toEqual(['TurnRecorded', 'CallSettled', 'RunEnded']);
      expect(end(scene)).toMatchObject({ status: 'budget_exhausted', cause: { limit: 'maxRepeats' } });
    },
  );

  it('maxResultBytes stops a run that the client drives; what is out comes to its end, and a raise goes on', () => {
    const scene = begin({ maxResultBytes: 3 }, 'client');
    scene.propose('c1', [id(1)], 'ops.read_alerts', { service: 'a' });
    scene.propose('c2', [id(2)], 'ops.read_alerts', { service: 'b' });
    expect(scene.settle(id(1), view('four'))).toEqual([]);
    expect(types(scene.propose('c3', [id(3)], 'ops.list_regions', {}))).toEqual(['CommandRefused']);
    expect(types(scene.settle(id(2), view('four')))).toEqual(['RunEnded']);
    expect(end(scene)).toMatchObject({ status: 'budget_exhausted', cause: { limit: 'maxResultBytes' } });
    expect(types(scene.resume({ maxResultBytes: 8 }))).toEqual(['RunResumed']);
    expect(types(scene.propose('c4', [id(4)], 'ops.list_regions', {}))).toEqual(['CallProposed']);
  });

  it('a client that insists is stopped, too', () => {
    const scene = begin({ maxRepeats: 1 }, 'client');
    scene.propose('c1', [id(1)], 'ops.read_alerts', { service: 'a' });
    scene.settle(id(1));
    expect(types(scene.propose('c2', [id(2)], 'ops.read_alerts', { service: 'a' }))).toEqual(['CallSettled']);
    expect(types(scene.propose('c3', [id(3)], 'ops.read_alerts', { service: 'a' }))).toEqual([
      'CallSettled',
      'RunEnded',
    ]);
  });
});

describe('failures and corrections', () => {
  const fail = (scene: Scene, n: number) => scene.settle(id(n), failedData('failed'));

  it('a tool that failed maxToolFailures times in a row is refused, whatever its arguments; insisting ends the run', () => {
    const scene = begin({ maxToolFailures: 2 });
    for (const n of [1, 2]) {
      scene.turn(n, alerts(`s${n}`));
      fail(scene, n);
    }
    scene.turn(3, alerts('s3'), ['ops__list_regions', '']);
    expect(errors(scene)).toEqual([[id(3), 'BUDGET_EXHAUSTED']]);
    expect(callIds(scene.all('CallProposed')).at(-1)).toBe(id(4));
    scene.settle(id(4));
    expect(types(scene.turn(4, alerts('s5')))).toEqual(['TurnRecorded', 'CallSettled', 'RunEnded']);
    expect(end(scene).cause).toMatchObject({
      limit: 'maxToolFailures',
      message: expect.stringContaining('failed 2 times in a row'),
    });
  });

  it('a success, and a resource that is not there, are no failures of the tool', () => {
    const scene = begin({ maxToolFailures: 2 });
    const outcomes = [failedData('failed'), settledData(), failedData('failed'), { ...failedData('failed') }];
    outcomes[3] = { ...outcomes[3]!, error: { code: 'NOT_FOUND', message: 'gone', retryable: false } };
    outcomes.forEach((outcome, i) => {
      scene.turn(i + 1, alerts(`s${i}`));
      scene.settle(id(i + 1), outcome);
    });
    scene.turn(5, alerts('s5'));
    expect(errors(scene)).toEqual([]);
  });

  it('calls of the same turn that are held are refused when the tool keeps failing', () => {
    const scene = begin({ maxToolFailures: 2, maxParallel: 1 });
    scene.turn(1, alerts('a'), alerts('b'), alerts('c'), alerts('d'));
    fail(scene, 1);
    fail(scene, 2);
    expect(errors(scene)).toEqual([
      [id(3), 'BUDGET_EXHAUSTED'],
      [id(4), 'BUDGET_EXHAUSTED'],
    ]);
    expect(scene.all('RunEnded')).toEqual([]);
    expect(scene.all('RequestTurn')).toHaveLength(2);
  });

  it('invalid arguments may be corrected maxCorrections times since the tool’s last valid call', () => {
    const scene = begin({ maxCorrections: 1 });
    const wrong: [string, unknown] = ['ops__read_alerts', { service: 1 }];
    scene.turn(1, wrong, wrong);
    scene.turn(2, alerts());
    scene.settle(id(3));
    scene.turn(3, wrong);
    expect(scene.all('RunEnded')).toEqual([]);
    expect(types(scene.turn(4, wrong))).toEqual(['TurnRecorded', 'CallSettled', 'RunEnded']);
    expect(end(scene).cause).toMatchObject({
      limit: 'maxCorrections',
      message: expect.stringContaining('2 proposals'),
    });
  });
});
