import { say, startScriptedServer, type ScriptedServer } from '#providers';

describe('the scripted model refuses what the real API refuses', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer({ script: () => [say('ok')] });
  });
  afterAll(() => server.close());

  const ask = async (body: unknown, headers: Record<string, string> = { authorization: 'Bearer k' }) => {
    const answer = await fetch(`${server.url}/responses`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { error?: { message: string; code: string | null }; output?: unknown[] },
    };
  };
  const fnCall = (callId: string) => ({ type: 'function_call', call_id: callId, name: 'n', arguments: '{}' });
  const output = (callId: string) => ({ type: 'function_call_output', call_id: callId, output: 'r' });
  const withInput = (...input: unknown[]) => ({ model: 'any-model', store: false, input });

  it('answers a plain request for any model', async () => {
    expect(await ask({ model: 'made-up', input: 'Hi' })).toMatchObject({
      status: 200,
      body: { status: 'completed', object: 'response' },
    });
  });
  it.each([
    ['no key', { model: 'm', input: 'x' }, {}, 401],
    ['no JSON', '{', undefined, 400],
    ['no model', { input: 'x' }, undefined, 400],
    ['no input', { model: 'm' }, undefined, 400],
    ['a stream', { model: 'm', input: 'x', stream: true }, undefined, 400],
    ['a tool name with a dot', { model: 'm', input: 'x', tools: [{ type: 'function', name: 'a.b' }] }, undefined, 400],
    [
      'two tools of one name',
      {
        model: 'm',
        input: 'x',
        tools: [
          { type: 'function', name: 'a' },
          { type: 'function', name: 'a' },
        ],
      },
      undefined,
      400,
    ],
    ['a call without output', withInput(fnCall('a')), undefined, 400],
    ['an output without call', withInput(output('a')), undefined, 400],
    ['an output before its call', withInput(output('a'), fnCall('a')), undefined, 400],
    ['two outputs of one call', withInput(fnCall('a'), output('a'), output('a')), undefined, 400],
    ['two calls of one id', withInput(fnCall('a'), output('a'), fnCall('a'), output('a')), undefined, 400],
    ['reasoning without its sealed content', withInput({ type: 'reasoning', id: 'rs_1', summary: [] }), undefined, 404],
    [
      'reasoning that was changed',
      withInput({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc_x' }),
      undefined,
      400,
    ],
    ['an item of unknown type', withInput({ type: 'nonsense' }), undefined, 400],
  ])('%s', async (_what, body, headers, status) => {
    const answer = await ask(body, headers as Record<string, string> | undefined);
    expect(answer.status).toBe(status);
    expect(answer.body.error?.message).toEqual(expect.any(String));
  });
});
