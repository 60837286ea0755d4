import { z } from 'zod';
import { callIdSchema, runIdSchema, tenantSchema } from '#contracts';
import { runIdOfCall } from '#kernel';
import type { Database } from '#persistence';
import type { ReadPort } from '#runtime';
import { readCheckpoints } from './adapters/read-checkpoints.query.ts';
import { countRecords, readRecords } from './adapters/read-records.query.ts';
import { checkpointKeys } from './adapters/signing-key.repository.ts';
import type { Checkpointer } from './work/checkpointer.ts';

const auditQuestion = z.object({
  tenant: tenantSchema,
  after: z.coerce.number().int().min(0).default(0),
  limit: z.int().min(1).max(500).default(100),
  runId: runIdSchema.optional(),
  callId: callIdSchema.optional(),
});
const checkpointsQuestion = auditQuestion.pick({ tenant: true, after: true, limit: true });
const countQuestion = z.object({ tenant: tenantSchema, runIds: z.array(runIdSchema).max(1000).optional() });

export interface AuditPage {
  /** CloudEvents as published; checkpoints. */
  readonly items: readonly unknown[];
  /** Give it as `after` for what follows; null = nothing more for now. */
  readonly next: string | null;
}

/** The questions that the gateway may ask; each names its tenant (G12). */
export function telemetryReads(database: Database, checkpointer: Pick<Checkpointer, 'sign'>): ReadPort {
  return {
    async audit(args: unknown): Promise<AuditPage> {
      const question = auditQuestion.parse(args);
      const { callId } = question;
      const runId = callId === undefined ? question.runId : runIdOfCall(callId);
      const rows = await readRecords(database, { ...question, runId });
      return {
        items: rows.map((row) => JSON.parse(row.event) as unknown),
        next: rows.length === question.limit ? String(rows.at(-1)!.seq) : null,
      };
    },

    async auditCount(args: unknown): Promise<{ count: number }> {
      const { tenant, runIds } = countQuestion.parse(args);
      return { count: await countRecords(database, tenant, runIds) };
    },

    /** Signed heads by growing size; `after` is a size. Whoever begins gets a head that is signed as of now. */
    async checkpoints(args: unknown): Promise<AuditPage> {
      const { tenant, after, limit } = checkpointsQuestion.parse(args);
      if (after === 0) await checkpointer.sign(tenant);
      const items = await readCheckpoints(database, tenant, after, limit);
      return { items, next: items.length === limit ? String(items.at(-1)!.size) : null };
    },

    /** Public keys that may sign checkpoints: a JWKS, the same for all tenants. */
    keys: () => checkpointKeys(database),
  };
}
