import { randomBytes } from 'node:crypto';
import { until } from '../../libs/runtime/testing/service-harness.ts';
import { planText, type Plan } from './plan.script.ts';
import { ask, type System } from './system.ts';

export interface CallError {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly path: string; readonly rule: string; readonly allowed?: readonly unknown[] }[];
}
export interface Answer {
  readonly ok: boolean;
  readonly callId: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: CallError;
  readonly replayed?: boolean;
  readonly retryable?: boolean;
  readonly changeArguments?: boolean;
  readonly humanTakeover?: boolean;
}
export interface RunView {
  readonly runId: string;
  readonly status: string;
  readonly outcome: string;
  readonly cause: { readonly code: string; readonly message: string } | null;
  readonly answer: string | null;
  readonly turns: number;
  readonly stage: string | null;
  readonly endedAt: string | null;
  readonly calls: readonly {
    readonly callId: string;
    readonly tool: string;
    readonly status: string;
    readonly errorCode: string | null;
    readonly effect: string | null;
    readonly approvalId: string | null;
    readonly cancellation: { readonly state: string; readonly evidence: string } | null;
  }[];
  readonly effects: readonly { readonly callId: string; readonly tool: string; readonly effect: string }[];
}
export interface Approval {
  readonly approvalId: string;
  readonly runId: string;
  readonly digest: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A loaded machine takes seconds for a turn. */
const PATIENCE_MS = 40_000;
const OPEN = ['accepted', 'proposed', 'granted', 'asked', 'allowed'];

export const newTask = (): string => `task-${randomBytes(6).toString('hex')}`;

export const toolsAndStates = (run: RunView): (string | null)[][] =>
  run.calls.map(({ tool, status, errorCode }) => [tool.split('@')[0]!, status, errorCode]);

/** What a test does with the installation. `system` is asked for late, because the hooks that open it run later. */
export function faultSteps(system: () => System) {
  const call = (tool: string, args: unknown, taskId?: string, person = 'alice') =>
    ask<Answer>(
      system(),
      person,
      'POST',
      '/v1/calls',
      { tool, arguments: args, ...(taskId === undefined ? {} : { taskId }) },
      { prefer: 'wait=30' },
    );

  /** A run of an agent whose model plays the plan. */
  async function start(
    plan: Plan,
    budgets: object = {},
    taskId: string | null = newTask(),
    agent = 'probe',
  ): Promise<string> {
    const body = { agent, input: planText(plan), budgets, ...(taskId === null ? {} : { taskId }) };
    const started = await ask<{ runId: string }>(system(), 'alice', 'POST', '/v1/runs', body);
    expect(started.status).toBe(202);
    return started.body.runId;
  }

  const look = async (runId: string): Promise<RunView> =>
    (await ask<RunView>(system(), 'alice', 'GET', `/v1/runs/${runId}`)).body;

  /** Views follow the facts: ended, and every call of it settled. */
  const ended = (runId: string): Promise<RunView> =>
    until(async () => {
      const run = await look(runId);
      return run.endedAt && run.calls.every(({ status }) => !OPEN.includes(status)) ? run : null;
    }, PATIENCE_MS);

  /** What the run asks a person. A run that will ask nobody any more is told with its cause, not by a wait in vain. */
  const approvalOf = (runId: string): Promise<Approval> =>
    until(async () => {
      const { body } = await ask<{ items: Approval[] }>(
        system(),
        'bob',
        'GET',
        '/v1/approvals?status=pending&limit=200',
      );
      const asked = body.items.find((approval) => approval.runId === runId);
      if (asked) return asked;
      const run = await look(runId);
      if (run.endedAt) throw new Error(`nobody is asked: ${JSON.stringify(run)}`);
      return null;
    }, PATIENCE_MS);

  async function decide(approval: Approval, decision: 'approved' | 'rejected'): Promise<void> {
    const path = `/v1/approvals/${approval.approvalId}/decision`;
    const body = { decision, digest: approval.digest, reason: 'test' };
    expect((await ask(system(), 'bob', 'POST', path, body)).status).toBe(200);
  }

  /** Proposals of a run that the client drives, all in one batch; then its end. */
  async function batch(calls: readonly object[], taskId = newTask()): Promise<{ answers: Answer[]; run: RunView }> {
    const started = await ask<{ runId: string }>(system(), 'alice', 'POST', '/v1/runs', { driver: 'client', taskId });
    const { runId } = started.body;
    const wait = { prefer: 'wait=30' };
    const { body } = await ask<{ calls: Answer[] }>(
      system(),
      'alice',
      'POST',
      `/v1/runs/${runId}/calls`,
      { calls },
      wait,
    );
    await ask(system(), 'alice', 'POST', `/v1/runs/${runId}/finish`, {});
    return { answers: body.calls, run: await ended(runId) };
  }

  async function resume(runId: string, budgets: object): Promise<void> {
    expect((await ask(system(), 'alice', 'POST', `/v1/runs/${runId}/resume`, { budgets })).status).toBeLessThan(300);
  }

  return { call, start, look, ended, approvalOf, decide, batch, resume };
}
