import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { isEnded, type CallSummary, type RunView } from '../../client/views.ts';
import { CommandFailure, EXIT } from '../../exit-codes.ts';

/** What a follower sees, once each, whatever way it came. */
export type RunChange =
  | { readonly type: 'call'; readonly runId: string; readonly call: CallSummary }
  | { readonly type: 'run'; readonly runId: string; readonly run: RunView };

const POLL_MS = 250;
const REOPEN_MS = 250;
/** Failures to reach the gateway in a row after which a follower gives up: half a minute. */
const MAX_FAILURES = 120;

/**
 * Follows a run to its end. Events of the gateway's stream say when to look; where it offers none, the run is polled.
 * A gateway that restarts is waited for; the stream goes on after the last event that was seen.
 * @returns the run as it ended
 */
export async function followRun(
  client: GatewayClient,
  runId: string,
  onChange: (change: RunChange) => void,
): Promise<RunView> {
  const path = `/v1/runs/${runId}`;
  const seen = new Map<string, string>();
  const look = async (): Promise<RunView> => {
    const run = await client.get<RunView>(path);
    for (const change of changesOf(run, seen)) onChange(change);
    return run;
  };
  let run = await look();
  let lastEventId: string | undefined;
  for (let failures = 0; !isEnded(run);) {
    try {
      const events = await client.events(`${path}/events`, lastEventId);
      if (events === null) await delay(POLL_MS);
      else
        for await (const event of events) {
          lastEventId = event.id ?? lastEventId;
          run = await look();
          if (isEnded(run)) break;
        }
      run = isEnded(run) ? run : await look();
      failures = 0;
      if (!isEnded(run) && events !== null) await delay(REOPEN_MS);
    } catch (error) {
      if (!mayPass(error) || ++failures > MAX_FAILURES) throw error;
      await delay(REOPEN_MS);
    }
  }
  return run;
}

/** A gateway that is started again; a stream that was cut. */
const mayPass = (error: unknown): boolean =>
  error instanceof CommandFailure ? error.exit === EXIT.unreachable : error instanceof TypeError;

function changesOf(run: RunView, seen: Map<string, string>): RunChange[] {
  const changes: RunChange[] = [];
  const once = (key: string, state: string, change: RunChange): void => {
    if (seen.get(key) === state) return;
    seen.set(key, state);
    changes.push(change);
  };
  for (const call of run.calls ?? [])
    once(call.callId, `${call.status} ${call.effect}`, { type: 'call', runId: run.runId, call });
  once('run', run.status, { type: 'run', runId: run.runId, run });
  return changes;
}
