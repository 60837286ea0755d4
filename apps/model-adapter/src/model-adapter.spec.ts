import { message, TOPICS, toolContractSchema, type Message, type MessageData } from '#contracts';
import { InfrastructureError, newId } from '#kernel';
import { call, outputOf, rateLimited, say, startScriptedServer, type Script, type ScriptedServer } from '#providers';
import { contractDigest } from '#registry';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { modelAdapterDoor } from './model-adapter.module.ts';

const contract = toolContractSchema.parse({
  namespace: 'probe',
  name: 'look_up',
  version: '1.0.0',
  layer: 'read',
  title: 'Look up',
  description: 'Looks a word up.',
  whenToUse: 'A word is unknown.',
  whenNotToUse: 'The word is known.',
  input: { type: 'object', properties: { word: { type: 'string' } } },
  output: { type: 'object' },
  sideEffects: 'none',
  execution: { kind: 'local' },
});
const digest = contractDigest(contract);
const agent = { name: 'a', provider: 'openai-responses' as const, model: 'scripted', instructions: 'Be brief.' };

const requestTurn = (
  runId: string,
  data: Partial<MessageData<'RequestTurn'>> = {},
  tenant = 'dev',
): Message<'RequestTurn'> =>
  message(
    'RequestTurn',
    { tenant, runId, now: Date.now(), correlationId: 'trace-1' },
    {
      turn: 1,
      agent,
      results: [],
      toolset: [{ tool: 'probe.look_up@1.0.0', digest }],
      parallelToolCalls: true,
      ...data,
    },
  );

describe('the model-adapter', () => {
  let script: Script;
  let server: ScriptedServer;
  let harness: ServiceHarness;
  let registry: () => unknown;
  const others: ServiceHarness[] = [];
  const open = (env: Record<string, string> = {}, url?: string) =>
    openService(modelAdapterDoor, {
      env: {
        COUNTERSIGN_OPENAI_BASE_URL: server.url,
        OPENAI_API_KEY: 'sk-secret',
        COUNTERSIGN_MODEL_ATTEMPTS: '2',
        ...env,
      },
      reads: { 'gateway.contract': () => registry() },
      ...(url ? { url } : {}),
    });

  beforeAll(async () => {
    server = await startScriptedServer({ script: (request) => script(request) });
    harness = await open();
    await harness.startWorkers();
  });
  afterAll(async () => {
    for (const other of others) await other.close();
    await harness.close();
    await server.close();
  });
  beforeEach(() => {
    script = () => [say('Done.')];
    registry = () => ({ digest, contract });
  });

  const answersOf = (runId: string, from = harness) =>
    from.published.filter((p) => p.topic === TOPICS.modelResponses && p.message.runId === runId);
  const answer = async (runId: string, n = 1, from = harness) =>
    (await until(() => answersOf(runId, from)[n - 1])).message;
  const requestsOf = (word: string) => server.requests.filter((request) => JSON.stringify(request).includes(word));
  const turnState = async (runId: string) =>
    await harness.database.query<{ state: string; epoch: number }>({
      text: 'select state, epoch from turn where run_id = $1 order by turn',
      values: [runId],
    });

  it('runs a conversation: proposals out, results in, matched by id, a final text', async () => {
    script = (request) =>
      request.turnNo === 1
        ? [say('I look.'), call('probe__look_up', '{"word": "a"}', 'c1'), call('nobody__knows', '{broken', 'c2')]
        : [say(`It said ${outputOf(request, 'probe__look_up')}.`)];
    const runId = newId('run');
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'What is a?' }));
    expect(await answer(runId)).toMatchObject({
      type: 'TurnCompleted',
      tenant: 'dev',
      correlationId: 'trace-1',
      data: {
        turn: 1,
        text: 'I look.',
        proposals: [
          { providerCallId: 'c1', tool: 'probe__look_up', arguments: '{"word": "a"}' },
          { providerCallId: 'c2', tool: 'nobody__knows', arguments: '{broken' },
        ],
        usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      },
    });
    const results = [
      { callId: `call_${runId.slice(4)}_0001`, providerCallId: 'c1', output: 'A letter' },
      { callId: `call_${runId.slice(4)}_0002`, providerCallId: 'c2', output: '{"error":"UNKNOWN_TOOL"}' },
    ];
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { turn: 2, results }));
    expect(await answer(runId, 2)).toMatchObject({ data: { turn: 2, proposals: [], text: 'It said A letter.' } });

    const view = await harness.read<{ items: { item: { type: string } }[] }>('transcript', { tenant: 'dev', runId });
    expect(view.items.map(({ item }) => item.type)).toEqual([
      'message',
      'message',
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
      'message',
    ]);
    expect(JSON.stringify(view)).not.toContain('encrypted_content');
    expect(await harness.read('transcript', { tenant: 'other', runId })).toBeNull();
    expect(await harness.read('transcript', { tenant: 'dev', runId: newId('run') })).toBeNull();
  });

  it('a repeated request asks nobody again and publishes the stored bytes', async () => {
    const runId = newId('run');
    const request = requestTurn(runId, { input: `once ${runId}` });
    await harness.deliver(TOPICS.modelRequests, request, request);
    await answer(runId);
    await harness.deliver(TOPICS.modelRequests, { ...request, id: 'msg_other' }, request);
    const [first, second, ...rest] = answersOf(runId);
    expect(rest).toEqual([]);
    expect(second!.raw.value.equals(first!.raw.value)).toBe(true);
    expect(requestsOf(runId)).toHaveLength(1);
  });

  it('a request for a turn in work does nothing', async () => {
    let go!: () => void;
    const until_ = new Promise<void>((resolve) => (go = resolve));
    script = () => ({ fault: 'slow', until: until_, then: [say('late')] });
    const runId = newId('run');
    const request = requestTurn(runId, { input: `slow ${runId}` });
    await harness.deliver(TOPICS.modelRequests, request);
    await until(() => requestsOf(runId).length === 1);
    await harness.deliver(TOPICS.modelRequests, request);
    expect(answersOf(runId)).toEqual([]);
    go();
    expect(await answer(runId)).toMatchObject({ data: { text: 'late' } });
    expect(requestsOf(runId)).toHaveLength(1);
  });

  it('a turn whose owner died is taken up by another process, and a late owner changes nothing (G4)', async () => {
    const held: (() => void)[] = [];
    script = (request) =>
      held.length === 0
        ? { fault: 'slow', until: new Promise<void>((r) => held.push(r)), then: [say('from the late one')] }
        : [say(`again ${request.repeats}`)];
    const runId = newId('run');
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { input: `crash ${runId}` }));
    await until(() => held.length === 1);
    const other = await open({}, harness.url);
    others.push(other);
    await other.startWorkers();
    // Whoever takes it up, exactly one answer is committed. The living first owner would renew: its lease is ended until it is lost.
    const state = async () => (await turnState(runId))[0]!;
    await until(async () => {
      await harness.database.change({
        text: 'update turn set lease_until = now() where run_id = $1 and epoch = 1',
        values: [runId],
      });
      return (await state()).state === 'completed';
    });
    held[0]!();
    await until(() => [...answersOf(runId), ...answersOf(runId, other)].length === 1);
    expect((await state()).epoch).toBe(2);
    const [published] = [...answersOf(runId), ...answersOf(runId, other)];
    expect(published!.message).toMatchObject({ data: { text: 'again 1' } });
    const view = await harness.read<{ items: unknown[] }>('transcript', { tenant: 'dev', runId });
    expect(view.items).toHaveLength(2);
    await other.close();
    others.pop();
  });

  it('a process that stops gives its turn back at once', async () => {
    const stopped = await open();
    let started = false;
    script = () => ((started = true), { fault: 'slow', until: new Promise(() => undefined), then: [] });
    const runId = newId('run');
    await stopped.startWorkers();
    await stopped.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'x' }));
    await until(() => started);
    for (const worker of stopped.parts.workers!) await worker.drain();
    const [row] = await stopped.database.query({
      text: `select state, lease_owner, lease_until <= now() as free from turn where run_id = $1`,
      values: [runId],
    });
    expect(row).toEqual({ state: 'pending', lease_owner: null, free: true });
    await stopped.close();
  });

  it('faults that pass are tried again; those that stay end the turn with their reason', async () => {
    const runId = newId('run');
    script = (request) => (request.repeats === 0 ? rateLimited(0) : [say('ok')]);
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { input: `limited ${runId}` }));
    expect(await answer(runId)).toMatchObject({ type: 'TurnCompleted' });
    const failing = newId('run');
    script = () => ({ fault: 'http', status: 503 });
    await harness.deliver(TOPICS.modelRequests, requestTurn(failing, { input: `failing ${failing}` }));
    expect(await answer(failing)).toMatchObject({
      type: 'TurnFailed',
      data: { code: 'MODEL_UNAVAILABLE', message: expect.stringContaining('2 attempts') },
    });
    expect(requestsOf(failing)).toHaveLength(2);
  });

  it('after a failed turn the transcript is still valid: the next one goes on from it', async () => {
    const runId = newId('run');
    script = () => [call('probe__look_up', {}, 'c1')];
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'x' }));
    await answer(runId);
    script = () => [{ refuse: 'No.' }, call('probe__look_up', {}, 'c2')];
    const results = [{ callId: `call_${runId.slice(4)}_0001`, providerCallId: 'c1', output: 'r' }];
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { turn: 2, results }));
    expect(await answer(runId, 2)).toMatchObject({ type: 'TurnFailed', data: { turn: 2, code: 'MODEL_REFUSED' } });
    script = (request) => [say(`on with ${request.outputs.length}`)];
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { turn: 3 }));
    expect(await answer(runId, 3)).toMatchObject({ data: { text: 'on with 1' } });
  });

  it('results that do not fit the proposals fail the turn and leave the transcript alone', async () => {
    const runId = newId('run');
    script = () => [call('probe__look_up', {}, 'c1')];
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'x' }));
    await answer(runId);
    const results = [{ callId: `call_${runId.slice(4)}_0001`, providerCallId: 'c9', output: 'r' }];
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { turn: 2, results }));
    expect(await answer(runId, 2)).toMatchObject({
      type: 'TurnFailed',
      data: { code: 'INTERNAL', message: expect.stringContaining('c9') },
    });
  });

  it('a missing key fails the turn with what to do, not the process', async () => {
    const keyless = await open({ OPENAI_API_KEY: '' });
    others.push(keyless);
    await keyless.startWorkers();
    const runId = newId('run');
    await keyless.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'x' }));
    expect(await answer(runId, 1, keyless)).toMatchObject({
      type: 'TurnFailed',
      data: { code: 'MODEL_UNAVAILABLE', message: expect.stringContaining('OPENAI_API_KEY is not set') },
    });
  });

  it('while the registry is away the turn waits; an unknown contract ends it', async () => {
    const waiting = await open();
    others.push(waiting);
    await waiting.startWorkers();
    let asked = 0;
    registry = () => {
      if (asked++ === 0) throw new InfrastructureError('away');
      return { digest, contract };
    };
    const runId = newId('run');
    await waiting.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'x' }));
    expect(await answer(runId, 1, waiting)).toMatchObject({ type: 'TurnCompleted' });
    expect(asked).toBe(2);
    registry = () => null;
    const unknown = newId('run');
    const toolset = [{ tool: 'probe.gone@1.0.0', digest: `sha256:${'0'.repeat(64)}` }];
    await waiting.deliver(TOPICS.modelRequests, requestTurn(unknown, { input: 'x', toolset }));
    expect(await answer(unknown, 1, waiting)).toMatchObject({ type: 'TurnFailed', data: { code: 'CONTRACT_CHANGED' } });
  });

  it('keeps what the model was shown (G14)', async () => {
    const runId = newId('run');
    await harness.deliver(TOPICS.modelRequests, requestTurn(runId, { input: 'x' }));
    await answer(runId);
    const [row] = await harness.database.query<{ offered: string }>({
      text: 'select offered from turn where run_id = $1',
      values: [runId],
    });
    expect(JSON.parse(row!.offered)).toMatchObject({
      tools: [{ type: 'function', name: 'probe__look_up', strict: false }],
      toolChoice: 'auto',
    });
  });
});
