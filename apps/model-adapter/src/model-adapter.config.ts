import { z } from 'zod';
import { parseJson } from '#kernel';
import { integerSetting } from '#runtime';
import type { Price } from './domain/reserve-turn.ts';

const pricesSchema = z.record(
  z.string().min(1).max(128),
  z.strictObject({ input: z.number().min(0), output: z.number().min(0) }),
);

function readPrices(text: string, context: z.RefinementCtx): ReadonlyMap<string, Price> {
  let given: unknown;
  try {
    given = parseJson(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'expected strict JSON: {"<model>":{"input":1.25,"output":10}}' });
    return z.NEVER;
  }
  const parsed = pricesSchema.safeParse(given);
  if (parsed.success) return new Map(Object.entries(parsed.data));
  for (const issue of parsed.error.issues) {
    context.addIssue({ code: 'custom', message: `${issue.path.join('.') || 'the whole'}: ${issue.message}` });
  }
  return z.NEVER;
}

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
  COUNTERSIGN_MODEL_MAX_OUTPUT_TOKENS: integerSetting(16_384, 16, 1_000_000).describe(
    'tokens that one answer of a model may have, its reasoning with it; at most what the models in use allow',
  ),
  COUNTERSIGN_MODEL_PRICES: z
    .string()
    .default('{}')
    .transform(readPrices)
    .describe(
      'prices by model, US dollars for a million tokens, as JSON: {"<model>":{"input":1.25,"output":10}}; a model that is not named has an unknown cost',
    ),
  COUNTERSIGN_MODEL_CONCURRENCY: integerSetting(16, 1, 256).describe('turns that one process works on at once'),
};
export type ModelAdapterSettings = typeof modelAdapterSettings;
