import type { Database } from '#persistence';
import type { Provider, TranscriptItem } from '#providers';
import { loadTranscript, turnsOf } from './adapters/transcript.repository.ts';

export interface TranscriptView {
  readonly runId: string;
  readonly turns: readonly { readonly turn: number; readonly state: string }[];
  /** In the provider's form; reasoning is left out. */
  readonly items: readonly { readonly position: number; readonly turn: number; readonly item: TranscriptItem }[];
}

export function modelAdapterReads(database: Database, providers: readonly Provider[]) {
  return {
    async transcript({
      tenant,
      runId,
    }: {
      readonly tenant: string;
      readonly runId: string;
    }): Promise<TranscriptView | null> {
      const turns = await turnsOf(database, tenant, runId);
      if (turns.length === 0) return null;
      const rows = await loadTranscript(database, runId);
      const items = rows
        .map(({ position, turn, item }) => ({ position, turn, item: JSON.parse(item) as TranscriptItem }))
        .filter(({ item }) => providers.every((provider) => provider.isVisible(item)));
      return { runId, turns, items };
    },
  };
}
