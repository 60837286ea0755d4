import { ProviderFault, type Provider, type TurnAnswer } from '#providers';
import { askProvider } from './ask-provider.ts';

const answered: TurnAnswer = {
  kind: 'answered',
  items: [],
  proposals: [],
  text: 'ok',
  responseId: null,
  usage: { inputTokens: 1, outputTokens: 1 },
};
const fault = (retryable: boolean) => new ProviderFault('MODEL_UNAVAILABLE', 'away', { retryable });

/** A provider that gives one outcome after the other. */
const playing = (...outcomes: (TurnAnswer | Error)[]) => {
  let asked = 0;
  const provider = {
    ask: () => {
      const outcome = outcomes[Math.min(asked++, outcomes.length - 1)]!;
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
    parse: (raw: unknown) => raw as TurnAnswer,
  } as unknown as Provider;
  return { provider, asked: () => asked };
};
const ask = (provider: Provider, attempts = 3, signal = new AbortController().signal) =>
  askProvider(provider, {}, { turn: 1, transcript: [] }, { attempts, timeoutMs: 1000 }, signal, () => 0);

describe('asking the provider', () => {
  it('tries again what can pass, within its bound', async () => {
    const fine = playing(fault(true), fault(true), answered);
    expect(await ask(fine.provider)).toEqual({ answer: answered, attempts: 3 });
    const never = playing(fault(true));
    expect(await ask(never.provider)).toMatchObject({
      answer: { code: 'MODEL_UNAVAILABLE', message: 'away; gave up after 3 attempts' },
      attempts: 3,
    });
    expect(never.asked()).toBe(3);
  });
  it('asks once where trying again cannot help', async () => {
    const hopeless = playing(fault(false), answered);
    expect(await ask(hopeless.provider)).toMatchObject({ answer: { kind: 'unusable', message: 'away' }, attempts: 1 });
  });
  it('an answer that failed at the provider counts as an attempt too', async () => {
    const failed: TurnAnswer = {
      kind: 'unusable',
      code: 'MODEL_UNAVAILABLE',
      message: 'm',
      retryable: true,
      usage: { inputTokens: null, outputTokens: null },
    };
    const { provider, asked } = playing(failed, answered);
    expect(await ask(provider)).toMatchObject({ answer: answered, attempts: 2 });
    expect(asked()).toBe(2);
  });
  it('stops waiting when the work is given up', async () => {
    const stop = new AbortController();
    const slow = playing(new ProviderFault('MODEL_UNAVAILABLE', 'away', { retryable: true, retryAfterMs: 60_000 }));
    const asking = ask(slow.provider, 3, stop.signal);
    stop.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  });
  it('a bug is not taken for an answer of the provider', async () => {
    await expect(ask(playing(new TypeError('bug')).provider)).rejects.toThrow(TypeError);
  });
});
