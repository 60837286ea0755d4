import { z } from 'zod';
import { tenantLimitSchema } from '#contracts';

export const usageSchema = z.looseObject({
  limits: z
    .array(
      z.looseObject({
        period: tenantLimitSchema.shape.period,
        name: z.string().describe('The day or the month, in UTC: 2026-11-30 or 2026-11.'),
        limit: tenantLimitSchema.shape.limit,
        used: z.number().describe('Reserved and spent by all runs; what nobody knows stays reserved.'),
        most: z.number(),
        left: z.number(),
        renewsAt: z.string().describe('RFC 3339.'),
      }),
    )
    .describe('Only what has a limit is counted; empty = the tenant has none.'),
});
