import { z } from 'zod';
import type { ConsistencyProof, InclusionProof } from '#audit';
import {
  callIdSchema,
  CURSOR_PATTERN,
  cursorAfter,
  readCursor,
  runIdSchema,
  tenantSchema,
  writeCursor,
} from '#contracts';
import { derivedId, runIdOfCall } from '#kernel';
import type { Database } from '#persistence';
import type { ReadPort } from '#runtime';
import { readCheckpoints } from './adapters/read-checkpoints.query.ts';
import { readCallHistory } from './adapters/read-call-history.query.ts';
import { countRecords, readRecords } from './adapters/read-records.query.ts';
import { checkpointKeys } from './adapters/signing-key.repository.ts';
import { auditSchemas } from './domain/audit-schemas.ts';
import { eventType } from './domain/audit-row.ts';
import { CALL_AUDIT } from './domain/call.audit.ts';
import type { Checkpointer } from './work/checkpointer.ts';
import { Prover } from './work/prover.ts';

const auditQuestion = z.object({
  tenant: tenantSchema,
  after: z.union([z.literal(''), z.string().regex(CURSOR_PATTERN)]).default(''),
  limit: z.int().min(1).max(500).default(100),
  runId: runIdSchema.optional(),
  callId: callIdSchema.optional(),
});
const historyQuestion = z.object({
  tenant: tenantSchema,
  callId: callIdSchema,
  limit: z.int().min(1).max(500).default(200),
});
const checkpointsQuestion = auditQuestion
  .pick({ tenant: true, limit: true })
  .extend({ after: z.coerce.number().int().min(0).default(0) });
const proofQuestion = z.union([
  z.object({ tenant: tenantSchema, eventId: z.string().max(64) }),
  z.object({ tenant: tenantSchema, callId: callIdSchema }),
  z.object({ tenant: tenantSchema, ledger: z.string().max(80), from: z.coerce.number().int().min(1) }),
]);
const countQuestion = z.object({ tenant: tenantSchema, runIds: z.array(runIdSchema).max(1000).optional() });

export interface AuditPage {
  /** CloudEvents as published, ledger by ledger; checkpoints. */
  readonly items: readonly unknown[];
  /** Give it as `after` for what follows; null = nothing more for now. */
  readonly next: string | null;
}

/** The questions that the gateway may ask; each names its tenant (G12). */
export function telemetryReads(database: Database, checkpointer: Pick<Checkpointer, 'sign'>): ReadPort {
  const prover = new Prover(database, checkpointer);
  return {
    async audit(args: unknown): Promise<AuditPage> {
      const question = auditQuestion.parse(args);
      const { callId } = question;
      const runId = callId === undefined ? question.runId : runIdOfCall(callId);
      const after = readCursor(question.after);
      const rows = await readRecords(database, { ...question, after, runId });
      const items = rows.map((row) => JSON.parse(row.event) as unknown);
      return { items, next: rows.length === question.limit ? writeCursor(cursorAfter(after, items)) : null };
    },

    /** What the audit holds of one call: its own records, those of its undos, and what its run says of it. */
    async callHistory(args: unknown): Promise<{ items: unknown[]; truncated: boolean }> {
      const { tenant, callId, limit } = historyQuestion.parse(args);
      const rows = await readCallHistory(database, { tenant, runId: runIdOfCall(callId), callId, limit: limit + 1 });
      const items = rows.slice(0, limit).map((row) => JSON.parse(row.event) as unknown);
      return { items, truncated: rows.length > limit };
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

    /** Of a record by its id, of a call's terminal record, or of a ledger since it had `from` records. */
    async proof(args: unknown): Promise<InclusionProof | ConsistencyProof | null> {
      const { tenant, ...question } = proofQuestion.parse(args);
      if ('ledger' in question) return prover.consistency(tenant, question.ledger, question.from);
      if ('eventId' in question) return prover.inclusion(tenant, question.eventId);
      const terminal = derivedId('evt', eventType(CALL_AUDIT.CallSettled.name), tenant, question.callId);
      return prover.inclusion(tenant, terminal);
    },

    /** JSON Schemas of the records' data, by type. */
    schemas: () => Promise.resolve({ schemas: auditSchemas() }),

    /** Public keys that may sign checkpoints: a JWKS, the same for all tenants. */
    keys: () => checkpointKeys(database),
  };
}
