import { z } from 'zod';
import { callIdSchema, runIdSchema, tenantSchema } from '#contracts';
import { runIdOfCall } from '#kernel';
import type { Database } from '#persistence';
import type { ReadPort } from '#runtime';
import { countRecords, readRecords } from './adapters/read-records.query.ts';

const auditQuestion = z.object({
  tenant: tenantSchema,
  after: z.coerce.number().int().min(0).default(0),
  limit: z.int().min(1).max(500).default(100),
  runId: runIdSchema.optional(),
  callId: callIdSchema.optional(),
});
const countQuestion = z.object({ tenant: tenantSchema, runIds: z.array(runIdSchema).max(1000).optional() });

export interface AuditPage {
  /** CloudEvents as published. */
  readonly items: readonly unknown[];
  /** Give it as `after` for what follows; null = nothing more for now. */
  readonly next: string | null;
}

/** The questions that the gateway may ask; each names its tenant (G12). */
export function telemetryReads(database: Database): ReadPort {
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
  };
}
