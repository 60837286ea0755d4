import type { ConsumerSpec, Incoming } from '#bus';
import { encodeMessage, TOPICS } from '#contracts';
import type { ServiceContext } from '#runtime';
import { insertTurns, type NewTurn } from './adapters/insert-turns.query.ts';
import { storedResponses } from './adapters/stored-responses.query.ts';
import { turnResponse } from './work/turn-worker.ts';

/**
 * Admits a batch: new turns become rows, finished ones are answered again with their stored bytes, those in work are
 * left alone. The work itself begins after the commit.
 */
export function modelAdapterConsumers(
  context: Pick<ServiceContext, 'database' | 'outbox'>,
  kick: () => void,
): ConsumerSpec[] {
  const admit = async (batch: readonly Incoming<'RequestTurn'>[]): Promise<void> => {
    const turns = new Map<string, NewTurn>();
    for (const { message } of batch) {
      const { turn } = message.data;
      const runId = message.runId!;
      const key = `${runId}/${String(turn).padStart(6, '0')}`;
      if (!turns.has(key)) turns.set(key, { runId, turn, tenant: message.tenant, request: encodeMessage(message) });
    }
    const sorted = [...turns.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, turn]) => turn);
    const { inserted, staged } = await context.database.transaction(async (tx) => {
      const inserted = await insertTurns(tx, sorted);
      const known = inserted === sorted.length ? [] : await storedResponses(tx, sorted);
      return {
        inserted,
        staged: await context.outbox.append(
          tx,
          known.map((row) => turnResponse(row.runId, row.response)),
        ),
      };
    });
    context.outbox.emit(staged);
    if (inserted > 0) kick();
  };
  const spec: ConsumerSpec<'RequestTurn'> = {
    group: 'model-adapter',
    topics: [TOPICS.modelRequests],
    from: 'earliest',
    accepts: ['RequestTurn'],
    reduce: admit,
  };
  return [spec as unknown as ConsumerSpec];
}
