import { openAiResponses } from '#providers';
import { ContractCache } from '#registry';
import { defineDoor } from '#runtime';
import { modelAdapterSettings } from './model-adapter.config.ts';
import { modelAdapterConsumers } from './model-adapter.handlers.ts';
import { modelAdapterReads } from './model-adapter.reads.ts';
import { TurnWorker } from './work/turn-worker.ts';

export const modelAdapterDoor = defineDoor({
  name: 'model-adapter',
  settings: modelAdapterSettings,
  migrations: new URL('./migrations/', import.meta.url),
  open(context) {
    const { settings, database, clock } = context;
    const providers = [
      openAiResponses({ apiKey: settings.OPENAI_API_KEY, baseUrl: settings.COUNTERSIGN_OPENAI_BASE_URL, clock }),
    ];
    const worker = new TurnWorker({
      context,
      database,
      clock,
      contracts: new ContractCache(context.reads as never),
      providers: new Map(providers.map((provider) => [provider.name, provider])),
      limits: { attempts: settings.COUNTERSIGN_MODEL_ATTEMPTS, timeoutMs: settings.COUNTERSIGN_MODEL_TIMEOUT_MS },
      prices: settings.COUNTERSIGN_MODEL_PRICES,
      maxOutputTokens: settings.COUNTERSIGN_MODEL_MAX_OUTPUT_TOKENS,
      concurrency: settings.COUNTERSIGN_MODEL_CONCURRENCY,
    });
    return {
      consumers: modelAdapterConsumers(context, () => worker.kick()),
      reads: modelAdapterReads(database, providers),
      workers: [worker],
    };
  },
});
