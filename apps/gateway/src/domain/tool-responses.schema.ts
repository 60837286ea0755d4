import { z } from 'zod';
import { CHANGE_KINDS, TOOL_CHANGES, digestSchema } from '#contracts';

/** What the API answers about tools. */
const time = z.iso.datetime().describe('RFC 3339');

export const toolViewSchema = z.looseObject({
  tool: z.string(),
  version: z.string(),
  digest: digestSchema,
  modelName: z.string(),
  layer: z.string(),
  title: z.string(),
  description: z.string(),
  whenToUse: z.string(),
  whenNotToUse: z.string(),
  input: z.unknown(),
  output: z.unknown(),
  sideEffects: z.string(),
  risk: z.string(),
  approval: z.string(),
});
export const toolContractViewSchema = z.looseObject({
  tool: z.string(),
  version: z.string(),
  digest: digestSchema,
  modelName: z.string(),
  live: z.boolean().describe('Is this the version that ns.name means?'),
  deprecated: z.boolean().describe('People should move to another version or tool.'),
  contract: z.looseObject({}).describe('As published, but how and where it runs.'),
});

const changeKind = z.enum(CHANGE_KINDS);
export const toolDiffSchema = z.looseObject({
  from: z.string().describe('ns.name@version'),
  to: z.string().describe('ns.name@version'),
  kind: changeKind.describe('The gravest of the changes.'),
  changes: z.array(
    z.looseObject({
      path: z.string().describe('JSON pointer into the contract.'),
      kind: changeKind,
      message: z.string(),
    }),
  ),
});
export const publishedToolSchema = z.looseObject({
  tool: z.string(),
  version: z.string(),
  digest: digestSchema,
  state: z.enum(['published', 'pending_review']),
  live: z.boolean().describe('Is this the version that ns.name means?'),
  change: z.enum(['first', ...CHANGE_KINDS]).describe('Against the version that was live; `first` = there was none.'),
  note: z.string().nullable().describe('What still has to be done so that it can be used.'),
});
export const toolStandingSchema = z.looseObject({
  tool: z.string().describe('ns.name, or ns.name@version'),
  standing: z.enum(['quarantined', 'deprecated']).nullable(),
});
export const toolReviewSchema = z.looseObject({
  tool: z.string(),
  version: z.string(),
  digest: digestSchema,
  author: z.string(),
  change: z.string(),
  proposedAt: time,
  diff: toolDiffSchema.nullable().describe('Against the live version; null = there is none.'),
  contract: z.looseObject({}),
});
export const toolChangeSchema = z.looseObject({
  changeNo: z.int(),
  tool: z.string(),
  version: z.string().nullable().describe('null = all versions.'),
  change: z.enum(TOOL_CHANGES),
  digest: digestSchema.nullable().describe('Of the contract; null = all versions.'),
  by: z.string().describe('Id of who did it; `workspace` = it was published from a workspace at the start.'),
  reason: z.string().nullable(),
  at: time,
});
export const reviewedToolSchema = z.looseObject({
  tool: z.string(),
  version: z.string(),
  digest: digestSchema,
  state: z.enum(['published', 'rejected']),
});
