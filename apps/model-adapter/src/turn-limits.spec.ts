import { message, TOPICS, type MessageData } from '#contracts';
import { newId } from '#kernel';
import { say, startScriptedServer, type Script, type ScriptedServer } from '#providers';
import { openService, until, type ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import { modelAdapterDoor } from './model-adapter.module.ts';

const agent = (model: string) => ({
  name: 'a',
  provider: 'openai-responses' as const,
  model,
  instructions: 'Be brief.',
});

describe('the model-adapter keeps to what is left of a run (G8)', () => {
  let script: Script;
  let server: ScriptedServer;
  let harness: ServiceHarness;
  beforeAll(async () => {
    server = await startScriptedServer({ script: (request) => script(request) });
    harness = await openService(modelAdapterDoor, {
      env: {
        COUNTERSIGN_OPENAI_BASE_URL: server.url,
        OPENAI_API_KEY: 'sk-secret',
        COUNTERSIGN_MODEL_PRICES: '{"priced":{"input":1,"output":10}}',
        COUNTERSIGN_MODEL_MAX_OUTPUT_TOKENS: '500',
      },
    });
    await harness.startWorkers();
  });
  afterAll(async () => {
    await harness.close();
    await server.close();
  });
  beforeEach(() => {
    script = () => [say('Done.')];
  });

  async function ask(model: string, limits: MessageData<'RequestTurn'>['limits'], input: string) {
    const runId = newId('run');
    const data = { turn: 1, agent: agent(model), input, results: [], toolset: [], parallelToolCalls: true, limits };
    await harness.deliver(
      TOPICS.modelRequests,
      message('RequestTurn', { tenant: 'dev', runId, now: Date.now() }, data),
    );
    const answer = await until(() => harness.published.find((one) => one.message.runId === runId));
    const sent = server.requests.filter((request) => JSON.stringify(request).includes(input));
    return { answer: answer.message, sent };
  }

  it('asks for no more output than is left, and says what the turn cost', async () => {
    const { answer, sent } = await ask('priced', { maxOutputTokens: 40, maxCostUsd: 1 }, 'first question');
    expect(sent).toMatchObject([{ max_output_tokens: 40 }]);
    const { usage } = answer.data as MessageData<'TurnCompleted'>;
    expect(usage.costUsd).toBeCloseTo((usage.inputTokens! + 10 * usage.outputTokens!) / 1e6, 12);
  });

  it('a model without a price: its cost is unknown, and under a limit of cost nothing is sent', async () => {
    const free = await ask('unpriced', { maxOutputTokens: 5000, maxCostUsd: null }, 'second question');
    expect(free.sent).toMatchObject([{ max_output_tokens: 500 }]);
    expect(free.answer.data).toMatchObject({ usage: { costUsd: null } });
    const refused = await ask('unpriced', { maxOutputTokens: 5000, maxCostUsd: 1 }, 'third question');
    expect(refused.sent).toEqual([]);
    expect(refused.answer).toMatchObject({
      type: 'TurnFailed',
      data: { code: 'BUDGET_EXHAUSTED', limit: 'allowUnknownCost', message: expect.stringContaining('unpriced') },
    });
    expect(refused.answer.data).not.toHaveProperty('usage');
  });

  it('an answer that the limit cut off is the limit’s doing; one that this process cut off is truncated', async () => {
    const items = [say('This answer has more words than its limit leaves room for, by some way.')];
    script = () => ({ fault: 'incomplete', reason: 'max_output_tokens', items });
    const limited = await ask('priced', { maxOutputTokens: 16, maxCostUsd: 1 }, 'fourth question');
    expect(limited.answer.data).toMatchObject({ code: 'MODEL_TRUNCATED', limit: 'maxOutputTokens' });
    expect((limited.answer.data as MessageData<'TurnFailed'>).usage!.costUsd).toBeGreaterThan(0);
    const own = await ask('priced', { maxOutputTokens: 5000, maxCostUsd: 1 }, 'fifth question');
    expect(own.answer.data).not.toHaveProperty('limit');
  });

  it('prices that are not prices stop the start and say where', async () => {
    const env = { COUNTERSIGN_MODEL_PRICES: '{"m":{"input":-1,"output":2}}' };
    await expect(openService(modelAdapterDoor, { env })).rejects.toThrow(/COUNTERSIGN_MODEL_PRICES.*m\.input/);
  });
});
