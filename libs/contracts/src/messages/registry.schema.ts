import { z } from 'zod';
import { digestSchema } from '../envelope.schema.ts';

export const TOOL_CHANGES = [
  'published',
  'quarantined',
  'deprecated',
  'released',
  'proposed',
  'approved',
  'rejected',
] as const;

/** What became of a tool: who did it to which content. Why stands with the registry; here only its digest. */
export const toolChangedSchema = z.object({
  /** Numbers the changes of the installation. */
  changeNo: z.int().min(1),
  /** ns.name */
  tool: z.string().min(3).max(192),
  /** null = all of its versions, also those to come. */
  version: z.string().max(64).nullable(),
  change: z.enum(TOOL_CHANGES),
  /** Of the contract; null = all versions. */
  digest: digestSchema.nullable(),
  /** A principal's id, or `workspace`. */
  by: z.string().min(1).max(128),
  reasonDigest: digestSchema.nullable(),
});
