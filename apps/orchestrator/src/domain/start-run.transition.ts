import type { Proposal } from '#contracts';
import { callIdOf, runIdOfCall } from '#kernel';
import { admitBatch } from './admit-batch.ts';
import { commandRefused, runStarted } from './emissions.ts';
import type { Phase, Run } from './run-state.ts';
import type { Env, InputOf, Step } from './saga.types.ts';
import { NOTHING_USED } from './usage.ts';

type StartRun = InputOf<'StartRun'>;

export function startRun(input: StartRun, env: Env): Step {
  const fault = whatIsMissing(input);
  if (fault) return { run: null, out: [commandRefused(input, 'INVALID_ARGS', fault, env.now)] };
  const begun = newRun(input, env.now);
  const { driver, principal } = begun.definition;
  if (driver !== 'call') return { run: begun, out: [runStarted(begun, input)] };
  const own = ownedCallId(input.runId, input.data.proposals[0]!);
  const admitted = admitBatch(begun, input, { principal, proposals: [own], batch: batchOf(input) }, env);
  return { run: admitted.run, out: [runStarted(admitted.run, input), ...admitted.out] };
}

/** The gateway names the call of a direct run; a name of another run is not taken over. */
function ownedCallId(runId: string, proposal: Proposal): Proposal & { callId: string } {
  const given = proposal.callId;
  return { ...proposal, callId: given !== undefined && runIdOfCall(given) === runId ? given : callIdOf(runId, 1) };
}

const batchOf = (input: StartRun) => ({ commandId: input.data.commandId, requestDigest: input.data.requestDigest });

function whatIsMissing({ data }: StartRun): string | undefined {
  switch (data.driver) {
    case 'agent':
      if (!data.agent) return 'A run of driver "agent" needs an agent';
      return data.proposals.length > 0 ? 'A run of driver "agent" takes no proposals' : undefined;
    case 'client':
      return data.proposals.length > 0 ? 'A run of driver "client" takes its proposals by ProposeCalls' : undefined;
    case 'call':
      return data.proposals.length === 1 ? undefined : 'A run of driver "call" needs exactly one proposal';
  }
}

const FIRST_PHASE: Readonly<Record<StartRun['data']['driver'], Phase>> = {
  agent: { name: 'awaiting_calls' },
  client: { name: 'open' },
  call: { name: 'awaiting_calls' },
};

function newRun({ runId, tenant, data, correlationId }: StartRun, now: number): Run {
  const { commandId: _command, proposals: _proposals, ...asked } = data;
  const { driver, budgets } = asked;
  return {
    runNo: null,
    definition: { ...asked, runId, tenant, startedAt: now, correlationId },
    state: {
      phase: FIRST_PHASE[driver],
      calls: [],
      batches: [],
      turns: 0,
      sources: [],
      clock: { leftMs: budgets.wallClockMs, since: now },
      drive: null,
      used: NOTHING_USED,
      resumes: [],
    },
  };
}

/** The same request again is answered as before; another one under the same id is refused. */
export function startAgain(run: Run, input: StartRun, env: Env): Step {
  if (run.definition.requestDigest === input.data.requestDigest) return { run, out: [runStarted(run, input)] };
  return {
    run,
    out: [commandRefused(input, 'IDEMPOTENCY_CONFLICT', 'The same key was used for another request', env.now)],
  };
}
