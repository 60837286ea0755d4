import type { Effect, ShownStatus } from '#contracts';
import { isOut, isSettled } from '../../../apps/orchestrator/src/domain/call-state.ts';
import { outcomeOf } from '../../../apps/orchestrator/src/domain/outcome.ts';
import type { Emission } from '../../../apps/orchestrator/src/domain/saga.types.ts';
import type { Ring } from './ring.ts';

/** What must hold when a schedule is over; each fault is one sentence. */
export function faultsOf(ring: Ring): string[] {
  const run = ring.run!;
  const { calls } = run.state;
  const faults: string[] = [];
  const fault = (sentence: string): void => void faults.push(sentence);

  for (const [key, count] of ring.sink.effects) if (count > 1) fault(`doubled (G7): ${key} took effect ${count} times`);

  const ends = unique(ring.said.filter(({ type }) => type === 'RunEnded'));
  if (ends.length !== 1) fault(`the run ended ${ends.length} times (G8)`);
  const [end] = ends as Emission<'RunEnded'>[];
  if (end && end.data.callCount !== calls.length) fault('the end of the run does not count all calls (G4)');

  for (const call of calls) {
    const row = ring.journal.rows.get(call.callId);
    const recorded = row?.found ?? row?.settlement ?? null;
    if (!isSettled(call)) {
      // Only a call whose pool was silent until the run had to end may stay out; it then counts as unknown.
      if (!isOut(call) || end?.data.outcome !== 'some_unknown') fault(`lost (G4): ${call.callId} is ${call.state}`);
      continue;
    }
    if (recorded && (call.status !== recorded.status || call.effect !== recorded.effect))
      fault(`misreported (G9): ${call.callId} is told as ${call.status}, the journal holds ${recorded.status}`);
    for (const sentence of dishonest(call, ring)) fault(`misreported (G9): ${call.callId} ${sentence}`);
  }

  if (end) {
    const claims = end.data.outcome;
    const now = outcomeOf(calls);
    // What came after the end may only make more certain what was said to be unknown.
    if (claims !== now && claims !== 'some_unknown') fault(`the run's outcome is ${claims}, its calls say ${now} (G9)`);
  }
  return faults;
}

type Told = {
  readonly status: ShownStatus;
  readonly effect: Effect;
  readonly replayed: boolean;
  readonly callId: string;
  readonly effectClass: string | null;
};

function dishonest({ callId, status, effect, replayed, effectClass }: Told, { sink, journal }: Ring): string[] {
  if (effectClass === 'read') return [];
  const acted = sink.causedBy.has(callId);
  switch (status) {
    case 'succeeded': {
      const operation = journal.rows.get(callId)?.grant.call;
      const known = operation && (sink.effects.has(operation.operationKey) || acted || natural(operation, sink));
      return known ? [] : ['succeeded without an effect'];
    }
    case 'failed':
      return effect === 'none' && acted ? ['failed "without effect", which the sink has seen'] : [];
    case 'outcome_unknown':
      return replayed && acted ? ['joined an unknown outcome and acted'] : [];
    default:
      return sink.reachedBy.has(callId) ? [`is ${status}, and its request reached the sink`] : [];
  }
}

const natural = ({ tool, arguments: args }: { tool: string; arguments: unknown }, sink: Ring['sink']): boolean =>
  sink.effects.has(`${tool}/${JSON.stringify(args)}`);

const unique = (emissions: readonly Emission[]): Emission[] => [...new Map(emissions.map((e) => [e.id, e])).values()];
