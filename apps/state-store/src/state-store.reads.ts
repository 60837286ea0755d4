import { z } from 'zod';
import { callIdSchema, runIdSchema, runStatusSchema, SETTLED_STATUSES, tenantSchema } from '#contracts';
import type { Database } from '#persistence';
import type { ReadPort } from '#runtime';
import { listCalls } from './adapters/list-calls.query.ts';
import { listUnknowns } from './adapters/list-unknowns.query.ts';
import { readCall, readCallsOfRuns } from './adapters/read-calls.query.ts';
import { readProgress } from './adapters/read-progress.query.ts';
import { readRun, readRuns } from './adapters/read-runs.query.ts';
import { showProgress, type ProgressView } from './domain/show-progress.ts';
import { showCall, showRun, showUnknown, type UnknownView, type CallView, type RunView } from './domain/show-views.ts';

const runQuestion = z.object({ tenant: tenantSchema, runId: runIdSchema });
const callQuestion = z.object({ tenant: tenantSchema, callId: callIdSchema });
const runsQuestion = z.object({
  tenant: tenantSchema,
  limit: z.int().min(1).max(500).default(50),
  after: runIdSchema.optional(),
  status: runStatusSchema.optional(),
  principal: z.string().max(128).optional(),
  agent: z.string().max(128).optional(),
  labels: z.record(z.string(), z.string()).optional(),
});
const callsQuestion = z.object({
  tenant: tenantSchema,
  limit: z.int().min(1).max(500).default(50),
  after: callIdSchema.optional(),
  runId: runIdSchema.optional(),
  status: z.enum(['proposed', 'asked', 'granted', ...SETTLED_STATUSES]).optional(),
  tool: z.string().max(256).optional(),
  principal: z.string().max(128).optional(),
});

const unknownsQuestion = callsQuestion.pick({ tenant: true, limit: true, after: true });

export interface Page<T> {
  readonly items: readonly T[];
  /** Give it as `after` for the next page; null = no more. */
  readonly next: string | null;
}

/** The questions that the gateway may ask. Each names its tenant (G12); unknown ids answer null. */
export function stateStoreReads(database: Database): ReadPort {
  return {
    async run(args: unknown): Promise<RunView | null> {
      const { tenant, runId } = runQuestion.parse(args);
      const run = await readRun(database, tenant, runId);
      return run ? showRun(run, await readCallsOfRuns(database, tenant, [runId])) : null;
    },

    async runs(args: unknown): Promise<Page<RunView>> {
      const question = runsQuestion.parse(args);
      const runs = await readRuns(database, question);
      const calls = Map.groupBy(
        await readCallsOfRuns(
          database,
          question.tenant,
          runs.map((run) => run.run_id),
        ),
        (call) => call.run_id,
      );
      return {
        items: runs.map((run) => showRun(run, calls.get(run.run_id) ?? [])),
        next: runs.length === question.limit ? runs.at(-1)!.run_id : null,
      };
    },

    async call(args: unknown): Promise<CallView | null> {
      const { tenant, callId } = callQuestion.parse(args);
      const call = await readCall(database, tenant, callId);
      return call ? showCall(call) : null;
    },

    async calls(args: unknown): Promise<Page<CallView>> {
      const { tenant, runId } = runQuestion.parse(args);
      return { items: (await readCallsOfRuns(database, tenant, [runId])).map(showCall), next: null };
    },

    async callsPage(args: unknown): Promise<Page<CallView>> {
      const question = callsQuestion.parse(args);
      const calls = await listCalls(database, question);
      return {
        items: calls.map(showCall),
        next: calls.length === question.limit ? calls.at(-1)!.call_id : null,
      };
    },

    async unknowns(args: unknown): Promise<Page<UnknownView>> {
      const question = unknownsQuestion.parse(args);
      const calls = await listUnknowns(database, question);
      return {
        items: calls.map(showUnknown),
        next: calls.length === question.limit ? calls.at(-1)!.call_id : null,
      };
    },

    async progress(args: unknown): Promise<ProgressView | null> {
      const { tenant, runId } = runQuestion.parse(args);
      const stored = await readProgress(database, tenant, runId);
      return stored ? showProgress(stored) : null;
    },
  };
}
