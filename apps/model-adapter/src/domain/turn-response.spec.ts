import { decodeMessage, MAX_MESSAGE_BYTES } from '#contracts';
import { newId } from '#kernel';
import { completedTurn } from './turn-response.ts';

describe('the answer of a turn', () => {
  const context = { tenant: 'dev', runId: newId('run'), now: 0 };
  const data = (args: string) => ({
    turn: 1,
    proposals: [{ providerCallId: 'c1', tool: 'a__b', arguments: args }],
    text: null,
    responseId: null,
    usage: { inputTokens: null, outputTokens: null },
  });
  it('is exactly what its consumer reads, arguments untouched', () => {
    const { bytes, message } = completedTurn(context, data('{"a": 1.0}'));
    expect(decodeMessage(bytes)).toEqual(message);
  });
  it.each([
    ['too large for a message', 'x'.repeat(MAX_MESSAGE_BYTES)],
    ['text that no strict parser takes', '\ud83d'],
  ])('%s: the turn fails here instead of in the dead letters of its consumer', (_what, args) => {
    const { state, bytes } = completedTurn(context, data(args));
    expect(state).toBe('failed');
    expect(decodeMessage(bytes)).toMatchObject({ type: 'TurnFailed', data: { code: 'MODEL_PROTOCOL' } });
  });
});
