import { toolContractSchema, type ToolContract } from '#contracts';
import { ProviderFault, type Provider, type TranscriptItem, type TurnAnswer } from '../src/provider.port.ts';
import { call, say, type Script } from '../src/scripted/script.ts';

/** An adapter before a model that plays the script. */
export interface OpenProvider {
  readonly provider: Provider;
  close(): Promise<void>;
}

type Answered = Extract<TurnAnswer, { kind: 'answered' }>;

export const lookup: ToolContract = toolContractSchema.parse({
  namespace: 'probe',
  name: 'look_up',
  version: '1.0.0',
  layer: 'read',
  title: 'Look up',
  description: 'Looks a word up.',
  whenToUse: 'A word is unknown.',
  whenNotToUse: 'The word is known.',
  input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'], additionalProperties: false },
  output: { type: 'object' },
  sideEffects: 'none',
  execution: { kind: 'local' },
});

/** A run's turns against one provider, keeping its transcript as the model-adapter does. */
export function conversation(provider: Provider, tools: readonly ToolContract[] = [lookup]) {
  const transcript: TranscriptItem[] = [];
  let turn = 0;
  return {
    transcript,
    async next(
      what: { input?: string; results?: { providerCallId: string; output: string }[] },
      signal = new AbortController().signal,
    ): Promise<TurnAnswer> {
      transcript.push(...provider.openItems(what.input), ...provider.resultItems(transcript, what.results ?? []));
      const request = provider.buildRequest({
        model: 'scripted',
        instructions: 'Be brief.',
        transcript,
        tools,
        parallelToolCalls: true,
      });
      const answer = provider.parse(await provider.ask(request, { signal, timeoutMs: 20_000 }), {
        turn: ++turn,
        transcript,
      });
      if (answer.kind === 'answered') transcript.push(...answer.items);
      return answer;
    },
  };
}

/** What every provider adapter must hold, run against a model that speaks its real wire format. */
export function providerContract(name: string, open: (script: Script) => Promise<OpenProvider>): void {
  describe(`provider contract: ${name}`, () => {
    const opened: OpenProvider[] = [];
    const start = async (script: Script): Promise<Provider> => {
      const one = await open(script);
      opened.push(one);
      return one.provider;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((one) => one.close()));
    });

    it('a text answer has no proposals, and its usage is told', async () => {
      const talk = conversation(await start(() => [say('Hello.')]));
      expect(await talk.next({ input: 'Hi' })).toMatchObject({
        kind: 'answered',
        proposals: [],
        text: 'Hello.',
        usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      });
    });

    it('text beside calls is kept, and arguments stay as the model wrote them (P1)', async () => {
      const written = '{ "word" : "caf\\u00e9",\n "n": 1.0 }';
      const talk = conversation(await start(() => [say('I look.'), call('probe__look_up', written)]));
      const answer = (await talk.next({ input: 'x' })) as Answered;
      expect(answer.text).toBe('I look.');
      expect(answer.proposals).toEqual([
        { providerCallId: expect.any(String), tool: 'probe__look_up', arguments: written },
      ]);
    });

    it('results go back matched by id, whatever their order, and the run goes on to its end', async () => {
      const provider = await start((request) => {
        if (request.turnNo === 1) return [call('probe__look_up', { word: 'a' }), call('probe__look_up', { word: 'a' })];
        return [say(request.outputs.map((output) => output.text).join(','))];
      });
      const talk = conversation(provider);
      const first = (await talk.next({ input: 'twice the same, both legitimate' })) as Answered;
      expect(new Set(first.proposals.map((p) => p.providerCallId)).size).toBe(2);
      const results = first.proposals.map((p, i) => ({ providerCallId: p.providerCallId, output: `r${i}` }));
      expect(await talk.next({ results: results.reverse() })).toMatchObject({ kind: 'answered', text: 'r1,r0' });
    });

    it('a call id that the model uses twice still pairs each result with its own call (P4)', async () => {
      const provider = await start((request) => {
        if (request.turnNo === 1)
          return [call('probe__look_up', { word: 'a' }, 'same'), call('probe__look_up', { word: 'b' }, 'same')];
        if (request.turnNo === 2) return [call('probe__look_up', { word: 'c' }, 'same')];
        return [say(request.outputs.map((output) => output.text).join(','))];
      });
      const talk = conversation(provider);
      const answerOf = (answer: Answered) =>
        answer.proposals.map((p) => ({ providerCallId: p.providerCallId, output: p.arguments }));
      const first = (await talk.next({ input: 'x' })) as Answered;
      const second = (await talk.next({ results: answerOf(first) })) as Answered;
      expect(await talk.next({ results: answerOf(second) })).toMatchObject({
        text: '{"word":"a"},{"word":"b"},{"word":"c"}',
      });
    });

    it('a missing, foreign or second result is refused before anything is sent', async () => {
      const provider = await start(() => [
        call('probe__look_up', { word: 'a' }, 'c1'),
        call('probe__look_up', { word: 'b' }, 'c2'),
      ]);
      const talk = conversation(provider);
      await talk.next({ input: 'x' });
      const result = (providerCallId: string) => ({ providerCallId, output: 'r' });
      for (const results of [
        [],
        [result('c1')],
        [result('c1'), result('c2'), result('c3')],
        [result('c1'), result('c1')],
      ]) {
        expect(() => provider.resultItems(talk.transcript, results)).toThrow(
          expect.objectContaining({ code: 'INTERNAL' }),
        );
      }
    });

    it.each([
      ['a refusal', 'MODEL_REFUSED', () => [{ refuse: 'No.' }, call('probe__look_up', { word: 'a' })]],
      [
        'a truncated answer',
        'MODEL_TRUNCATED',
        () => ({ fault: 'incomplete' as const, reason: 'max_output_tokens', items: [call('probe__look_up', '{"wo')] }),
      ],
      ['a failed answer', 'MODEL_UNAVAILABLE', () => ({ fault: 'failed' as const, code: 'server_error' })],
    ])('%s leads to no proposal (P3)', async (_what, code, script) => {
      const talk = conversation(await start(script as Script));
      expect(await talk.next({ input: 'x' })).toMatchObject({ kind: 'unusable', code });
    });

    it.each([
      [
        'a rate limit',
        { fault: 'http', status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': '2' } },
        { code: 'MODEL_UNAVAILABLE', retryable: true, retryAfterMs: 2000 },
      ],
      [
        'a used up quota',
        { fault: 'http', status: 429, code: 'insufficient_quota' },
        { code: 'MODEL_UNAVAILABLE', retryable: false },
      ],
      ['a server error', { fault: 'http', status: 503 }, { code: 'MODEL_UNAVAILABLE', retryable: true }],
      [
        'a refused key',
        { fault: 'http', status: 401, code: 'invalid_api_key' },
        { code: 'MODEL_UNAVAILABLE', retryable: false },
      ],
      [
        'a refused request',
        { fault: 'http', status: 400, code: 'invalid_value' },
        { code: 'MODEL_PROTOCOL', retryable: false },
      ],
      ['a connection that is cut', { fault: 'cut' }, { code: 'MODEL_UNAVAILABLE', retryable: true }],
      ['a body that is no JSON', { fault: 'body', text: '{"id": ' }, { code: 'MODEL_PROTOCOL', retryable: false }],
    ] as const)('%s is told as what it is, once, without retries of its own', async (_what, fault, expected) => {
      let asked = 0;
      const talk = conversation(await start(() => (asked++, fault)));
      const error = await talk.next({ input: 'x' }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ProviderFault);
      expect(error).toMatchObject(expected);
      expect(asked).toBe(1);
    });

    it('a request that is given up ends at once', async () => {
      const stop = new AbortController();
      const provider = await start(() => {
        stop.abort();
        return { fault: 'slow', until: new Promise(() => undefined), then: [] };
      });
      await expect(conversation(provider).next({ input: 'x' }, stop.signal)).rejects.toBeInstanceOf(ProviderFault);
    });
  });
}
