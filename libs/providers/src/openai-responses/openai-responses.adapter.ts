import OpenAI from 'openai';
import { systemClock, type Clock } from '#kernel';
import { ProviderFault, type Provider, type ProviderRequest } from '../provider.port.ts';
import { buildRequest, openItems, resultItems } from './build-request.ts';
import { openAiFault } from './openai-fault.ts';
import { parseAnswer } from './parse-answer.ts';

export interface OpenAiResponsesOptions {
  /** Undefined: every attempt fails with what to do about it. */
  readonly apiKey: string | undefined;
  /** Ends with `/v1`; undefined = api.openai.com. */
  readonly baseUrl?: string | undefined;
  readonly clock?: Clock;
}

const OPENAI_URL = 'https://api.openai.com/v1';

/** The Responses API through the official SDK. Retries are the caller's, where they are seen, bounded and can be given up. */
export function openAiResponses(options: OpenAiResponsesOptions): Provider {
  const clock = options.clock ?? systemClock;
  let client: OpenAI | undefined;
  const connect = (apiKey: string): OpenAI =>
    new OpenAI({
      apiKey,
      baseURL: options.baseUrl ?? OPENAI_URL,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      logLevel: 'off', // its debug log shows requests and answers
    });
  return {
    name: 'openai-responses',
    openItems,
    resultItems,
    buildRequest,
    parse: parseAnswer,
    isVisible: (item) => item.type !== 'reasoning',
    async ask(request: ProviderRequest, { signal, timeoutMs }) {
      if (options.apiKey === undefined || options.apiKey.trim() === '') {
        throw new ProviderFault(
          'MODEL_UNAVAILABLE',
          'OPENAI_API_KEY is not set in the model-adapter: set it and start the run again',
          { retryable: false },
        );
      }
      client ??= connect(options.apiKey);
      // `timeout` of the SDK ends with the headers; the signal also ends a body that never comes to its end.
      const whole = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return await client.responses.create(request as never, { signal: whole, timeout: timeoutMs, maxRetries: 0 });
      } catch (error) {
        if (!signal.aborted && whole.aborted) {
          throw new ProviderFault('MODEL_UNAVAILABLE', `The model provider did not answer within ${timeoutMs} ms`, {
            retryable: true,
            cause: error,
          });
        }
        throw openAiFault(error, clock.now());
      }
    },
  };
}
