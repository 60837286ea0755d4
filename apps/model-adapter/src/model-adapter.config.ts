import { z } from 'zod';
import { integerSetting } from '#runtime';

export const modelAdapterSettings = {
  COUNTERSIGN_OPENAI_BASE_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http(s) URL' })
    .optional()
    .describe('base URL of the OpenAI Responses API or a compatible server, ending in /v1; absent: api.openai.com'),
  OPENAI_API_KEY: z.string().optional().describe('key of the provider account; without it each turn fails and says so'),
  COUNTERSIGN_MODEL_TIMEOUT_MS: integerSetting(120_000, 1_000, 600_000).describe(
    'milliseconds that one attempt at the provider may take',
  ),
  COUNTERSIGN_MODEL_ATTEMPTS: integerSetting(4, 1, 10).describe(
    'attempts at the provider for one turn, where trying again can help',
  ),
  COUNTERSIGN_MODEL_CONCURRENCY: integerSetting(16, 1, 256).describe('turns that one process works on at once'),
};
export type ModelAdapterSettings = typeof modelAdapterSettings;
