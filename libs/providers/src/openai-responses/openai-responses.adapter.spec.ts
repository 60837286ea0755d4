import { providerContract, conversation, lookup } from '../../testing/provider-contract.ts';
import { openAiResponses, type ProviderFault, say, call, startScriptedServer, type Script } from '#providers';

const open = async (script: Script) => {
  const server = await startScriptedServer({ script });
  return { provider: openAiResponses({ apiKey: 'sk-test', baseUrl: server.url }), server, close: () => server.close() };
};

providerContract('openai-responses', open);

describe('OpenAI Responses', () => {
  it('is stateless: nothing stored, all items sent back in order and unmodified, sealed reasoning included', async () => {
    const one = await open((request) =>
      request.turnNo === 1 ? [say('Looking.'), call('probe__look_up', { word: 'a' }, 'c1')] : [say('Done.')],
    );
    const talk = conversation(one.provider);
    const first = await talk.next({ input: 'x' });
    await talk.next({ results: [{ providerCallId: 'c1', output: 'r' }] });
    const [request, second] = one.server.requests;
    expect(request).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      parallel_tool_calls: true,
    });
    expect(request!.tools).toEqual([
      {
        type: 'function',
        name: 'probe__look_up',
        description: expect.stringContaining('Do not use when: The word is known.'),
        parameters: lookup.input,
        strict: true,
      },
    ]);
    const input = second!.input as unknown[];
    expect(input.slice(1, 4)).toEqual((first as unknown as { items: unknown[] }).items);
    expect(input.map((item) => (item as { type: string }).type)).toEqual([
      'message',
      'reasoning',
      'message',
      'function_call',
      'function_call_output',
    ]);
    await one.close();
  });

  it('without a key nothing is sent, and the fault says what to do', async () => {
    const provider = openAiResponses({ apiKey: undefined, baseUrl: 'http://127.0.0.1:9/v1' });
    await expect(conversation(provider).next({ input: 'x' })).rejects.toThrow(/OPENAI_API_KEY is not set/);
  });

  it('a provider that cannot be reached is told with the setting to look at', async () => {
    const server = await startScriptedServer({ script: () => [] });
    await server.close();
    const provider = openAiResponses({ apiKey: 'sk-test', baseUrl: server.url });
    await expect(conversation(provider).next({ input: 'x' })).rejects.toMatchObject({
      retryable: true,
      message: expect.stringContaining('COUNTERSIGN_OPENAI_BASE_URL'),
    });
  });

  it('no fault shows the key or the sentence of the provider', async () => {
    const one = await open(() => ({ fault: 'http', status: 401, code: 'invalid_api_key' }));
    const error = (await conversation(one.provider)
      .next({ input: 'x' })
      .catch((thrown: unknown) => thrown)) as ProviderFault;
    expect(error.message).toContain('HTTP 401');
    expect(error.message).not.toMatch(/sk-test|Scripted fault/);
    await one.close();
  });
});
