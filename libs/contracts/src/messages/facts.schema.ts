import { z } from 'zod';
import { callIdSchema, digestSchema } from '../envelope.schema.ts';

const factText = z.string().max(256);
/** What a governed read of the same run said of the resource; untrusted text, trusted in where it came from. */
export const callFactsSchema = z.object({
  /** The read. */
  callId: callIdSchema,
  contractDigest: digestSchema,
  values: z.object({
    ownership: factText.optional(),
    price: z.int().optional(),
    quota: z.int().optional(),
    state: factText.optional(),
    resourceVersion: factText.min(1),
  }),
});
export type CallFacts = z.infer<typeof callFactsSchema>;
