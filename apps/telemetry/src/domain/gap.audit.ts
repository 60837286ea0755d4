import type { OffsetGap } from '#bus';
import { derivedId } from '#kernel';
import type { AuditEntry } from './audit-entries.ts';
import { name, number, readFields, type AuditField } from './audit-field.ts';
import { eventType } from './audit-row.ts';

/**
 * Facts that were deleted before telemetry read them: whose they were is not known, so the audit of each tenant that it knows
 * says so. The same gap is the same record, whichever replica finds it, however often.
 */
export const GAP_AUDIT = {
  name: 'audit.gap',
  fields: {
    topic: name(({ topic }) => topic),
    partition: number(({ partition }) => partition),
    // The first that was not read; null = unknown.
    from_offset: number(({ from }) => from),
    // The first that is there.
    to_offset: number(({ to }) => to),
  } satisfies Record<string, AuditField<OffsetGap>>,
};

/** @param time RFC 3339 */
export function gapEntries(tenants: readonly string[], gaps: readonly OffsetGap[], time: string): AuditEntry[] {
  const type = eventType(GAP_AUDIT.name);
  return gaps.flatMap((gap) =>
    tenants.map((tenant) => ({
      id: derivedId('evt', type, tenant, gap.topic, gap.partition, gap.from ?? 'unknown', gap.to),
      tenant,
      type,
      runId: null,
      callId: null,
      time,
      data: { trace_id: null, ...readFields(GAP_AUDIT.fields, gap) },
    })),
  );
}
