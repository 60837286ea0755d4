import { parseJson } from '#kernel';
import { parseAnswer } from './parse-answer.ts';

const answer = (output: unknown, rest: object = {}) =>
  parseAnswer({ id: 'resp_1', status: 'completed', output, ...rest }, { turn: 3, transcript: [] });
const fn = (rest: object = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'n__t',
  arguments: '{}',
  status: 'completed',
  ...rest,
});
const proposals = (output: unknown) => {
  const read = answer(output);
  return read.kind === 'answered' ? read.proposals : read;
};

describe('an answer of the Responses API', () => {
  it.each([
    'custom_tool_call',
    'mcp_call',
    'mcp_approval_request',
    'shell_call',
    'computer_call',
    'web_search_call',
    'program',
    'tool_search_call',
    'brand_new_call',
  ])('with an item of type %s, which nobody offered, is refused by name and nothing of it is proposed (G1)', (type) => {
    expect(answer([fn(), { type, id: 'x', call_id: 'y', name: 'n', input: '{"looks":"like json"}' }])).toMatchObject({
      kind: 'unusable',
      code: 'MODEL_PROTOCOL',
      message: expect.stringContaining(type),
      retryable: false,
    });
  });

  it.each([
    ['incomplete item', [fn({ status: 'incomplete', arguments: '{"a' })], 'MODEL_TRUNCATED'],
    ['item still in work', [fn({ status: 'in_progress' })], 'MODEL_TRUNCATED'],
    ['call of a program', [fn({ caller: { type: 'program', caller_id: 'p' } })], 'MODEL_PROTOCOL'],
    ['call without a name', [fn({ name: '' })], 'MODEL_PROTOCOL'],
    ['item without a type', [{}], 'MODEL_PROTOCOL'],
    ['output that is no list', 'text', 'MODEL_PROTOCOL'],
  ])('%s: nothing becomes a proposal (P3)', (_what, output, code) => {
    expect(answer(output)).toMatchObject({ kind: 'unusable', code });
  });

  it.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'MODEL_TRUNCATED', false],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'MODEL_REFUSED', false],
    [{ status: 'incomplete', incomplete_details: null }, 'MODEL_TRUNCATED', false],
    [{ status: 'failed', error: { code: 'server_error' } }, 'MODEL_UNAVAILABLE', true],
    [{ status: 'failed', error: { code: 'rate_limit_exceeded' } }, 'MODEL_UNAVAILABLE', true],
    [{ status: 'failed', error: { code: 'bio_policy' } }, 'MODEL_REFUSED', false],
    [{ status: 'failed', error: { code: 'invalid_prompt' } }, 'MODEL_UNAVAILABLE', false],
    [{ status: 'cancelled' }, 'MODEL_UNAVAILABLE', false],
    [{ status: 'in_progress' }, 'MODEL_PROTOCOL', false],
    [{ status: undefined }, 'MODEL_PROTOCOL', false],
  ])('with the ending %j is unusable, its complete calls too', (rest, code, retryable) => {
    expect(answer([fn()], rest)).toMatchObject({ kind: 'unusable', code, retryable });
  });

  it.each([null, undefined, 'text', 7, [], true])('that is %j is no answer, and no exception either', (body) => {
    expect(parseAnswer(body, { turn: 1, transcript: [] })).toMatchObject({ kind: 'unusable', code: 'MODEL_PROTOCOL' });
  });

  it('pairs by call_id, never by the item id, and keeps ids that are long', () => {
    const long = `call_${'x'.repeat(600)}`;
    const read = answer([
      fn({ call_id: 'c1' }),
      fn({ call_id: long }),
      fn({ call_id: undefined }),
      fn({ call_id: '' }),
    ]);
    expect(read.kind === 'answered' && read.items.map((item) => item.call_id)).toEqual([
      'c1',
      long,
      'call_t3_3',
      'call_t3_4',
    ]);
    expect(read.kind === 'answered' && read.proposals.map((p) => p.providerCallId)).toEqual([
      'c1',
      expect.stringMatching(/^sha256:/),
      'call_t3_3',
      'call_t3_4',
    ]);
  });

  it('a name in a foreign namespace is another tool', () => {
    expect(proposals([fn({ namespace: 'n', name: 't' })])).toMatchObject([{ tool: 'n/t' }]);
  });

  it.each([
    ['', '{}'],
    [' \n\t', '{}'],
    [null, '{}'],
    [undefined, '{}'],
    [{ a: 1 }, '{"a":1}'],
    [['a'], '["a"]'],
    [7, '7'],
    ['null', 'null'],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
    [
      '{"__proto__":{},"big":9007199254740993,"z":-0,"e":1e400}',
      '{"__proto__":{},"big":9007199254740993,"z":-0,"e":1e400}',
    ],
    ['```json\n{}\n```', '```json\n{}\n```'],
    ['"{\\"a\\":1}"', '"{\\"a\\":1}"'],
  ])('arguments %j reach the strict parser as %j', (raw, text) => {
    expect(proposals([fn({ arguments: raw })])).toMatchObject([{ arguments: text }]);
  });

  it('half a surrogate pair can travel, and is refused by the strict parser at its path', () => {
    const [proposal] = proposals([fn({ arguments: '{"q":"cut \ud83d"}' })]) as unknown as { arguments: string }[];
    expect(proposal!.arguments.isWellFormed()).toBe(true);
    expect(() => parseJson(proposal!.arguments)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ path: '/q', rule: 'surrogate' })] }),
    );
  });

  it('NUL cannot travel either: bare in arguments it stays no JSON, in names and text it is replaced', () => {
    const read = answer([
      fn({ arguments: '{"q":"a\0b"}', name: 'n\0m', call_id: 'c\0' }),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a\0b' }] },
    ]);
    expect(read).toMatchObject({ text: 'a\ufffdb', proposals: [{ providerCallId: 'call_t3_1', tool: 'n\ufffdm' }] });
    expect(() => parseJson(read.kind === 'answered' ? read.proposals[0]!.arguments : '')).toThrow(
      expect.objectContaining({ code: 'INVALID_JSON' }),
    );
  });

  it('text holds no half pairs, and with a final answer no commentary', () => {
    const text = (value: string, phase?: string) => ({
      type: 'message',
      role: 'assistant',
      status: 'completed',
      ...(phase ? { phase } : {}),
      content: [{ type: 'output_text', text: value }],
    });
    expect(answer([text('a\ud83d'), text('b')])).toMatchObject({ text: 'a\ufffd\n\nb' });
    expect(answer([text('thinking', 'commentary'), text('the answer', 'final_answer')])).toMatchObject({
      text: 'the answer',
    });
    expect(answer([])).toMatchObject({ text: null, proposals: [] });
  });
});
