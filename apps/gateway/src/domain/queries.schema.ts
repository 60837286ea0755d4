import { z } from 'zod';
import { callIdSchema, CURSOR_PATTERN, runIdSchema, runStatusSchema, SETTLED_STATUSES } from '#contracts';

const limit = (max: number) =>
  z.coerce
    .number({ error: `expected a whole number from 1 to ${max}` })
    .int()
    .min(1)
    .max(max)
    .default(50)
    .describe('Items of a page.');

const after = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,1024}$/, 'expected the `next` of the page before')
  .optional()
  .describe('The `next` of the page before, with the same filters.');

const label = z
  .string()
  .max(321)
  .regex(/^[^:]{1,64}:.{0,256}$/su, 'expected key:value')
  .describe('key:value');

export const runsQuerySchema = z.strictObject({
  limit: limit(200),
  after,
  status: runStatusSchema.optional(),
  agent: z.string().min(1).max(128).optional().describe('Name of the agent.'),
  label: z
    .union([label, z.array(label).min(1).max(8)], { error: 'expected key:value, at most 8 times' })
    .optional()
    .describe('Runs that carry this label; given more than once: all of them.'),
});

/** States of a call that is not settled. */
export const OPEN_CALL_STATUSES = ['proposed', 'asked', 'granted'] as const;
export const callsQuerySchema = z.strictObject({
  limit: limit(200),
  after,
  runId: runIdSchema.optional(),
  status: z.enum([...OPEN_CALL_STATUSES, ...SETTLED_STATUSES]).optional(),
  tool: z
    .string()
    .regex(/^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*(@[0-9A-Za-z.+-]{1,64})?$/, 'expected ns.name or ns.name@version')
    .max(256)
    .optional()
    .describe('ns.name for all versions, or ns.name@version.'),
});

export const unknownsQuerySchema = z.strictObject({ limit: limit(200), after });

export const toolChangesQuerySchema = z.strictObject({ limit: limit(200), after });

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'rejected',
  'expired',
  'withdrawn',
  'superseded',
  'consumed',
] as const;
export const approvalsQuerySchema = z.strictObject({
  limit: limit(200),
  after,
  status: z.enum(APPROVAL_STATUSES).optional(),
});

export const standingsQuerySchema = z.strictObject({ limit: limit(200), after });

export const auditQuerySchema = z.strictObject({
  limit: limit(500),
  after: z
    .string()
    .regex(
      CURSOR_PATTERN,
      'expected the `next` of the page before, or <partition>.<sequence> of each ledger, comma separated',
    )
    .optional()
    .describe(
      'The `next` of the page before, or how far each ledger was read: `0.120,3.99` = ledger 0 up to record 120, ledger 3 up to record 99.',
    ),
  runId: runIdSchema.optional(),
  callId: callIdSchema.optional(),
});

/** `after`: the size that the page before gave as `next`. */
export const checkpointsQuerySchema = z.strictObject({
  limit: limit(500),
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'expected the `next` of the page before, or a number of records')
    .optional()
    .describe('The `next` of the page before, or any number of records: larger checkpoints follow.'),
});

const eventIdSchema = z.string().regex(/^evt_[0-9a-z]{26}$/, 'expected the id of a record: evt_…');
/** One of: a record, the terminal record of a call, a ledger since it had `from` records. */
export const proofQuerySchema = z
  .strictObject({
    eventId: eventIdSchema.optional().describe('Proves that this record is in its ledger.'),
    callId: callIdSchema.optional().describe("Proves that the call's terminal record is in its ledger."),
    ledger: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,62}\/\d{1,4}$/, 'expected the name of a ledger: <tenant>/<partition>')
      .optional()
      .describe('With `from`: proves that this ledger only grew since it had `from` records.'),
    from: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'expected a number of records')
      .optional(),
  })
  .refine(
    ({ eventId, callId, ledger, from }) =>
      (ledger === undefined) === (from === undefined) &&
      [eventId, callId, ledger].filter((given) => given !== undefined).length === 1,
    'give eventId, or callId, or ledger together with from',
  );

export const noQuerySchema = z.strictObject({});

/** `label=k:v` of a query, once or more often, as a record. */
export const labelsOf = (found: string | readonly string[] | undefined): Record<string, string> | undefined =>
  found === undefined
    ? undefined
    : Object.fromEntries(
        [found].flat().map((text) => [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)]),
      );

export const diffQuerySchema = z.strictObject({
  against: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, 'expected a version such as 1.0.0')
    .max(64)
    .optional()
    .describe('The version to compare with; default: the live one.'),
});
