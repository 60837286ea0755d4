import { schemaOfFields } from './audit-field.ts';
import { DATA_VERSION, eventType, type AuditRow } from './audit-row.ts';
import { AUDIT_ROWS } from './audit-rows.ts';
import { GAP_AUDIT } from './gap.audit.ts';

/** JSON Schema (2020-12) of the data of each record that is published, by the record's type. */
export function auditSchemas(): Record<string, object> {
  return Object.fromEntries(
    ([...Object.values(AUDIT_ROWS), GAP_AUDIT] as readonly AuditRow<never>[]).map(({ name, fields }) => {
      const properties = {
        schema_version: { const: DATA_VERSION },
        tenant: { type: 'string' },
        run_id: { type: ['string', 'null'] },
        call_id: { type: ['string', 'null'] },
        trace_id: { type: ['string', 'null'] },
        ...schemaOfFields(fields),
      };
      return [eventType(name), { type: 'object', properties, required: Object.keys(properties) }];
    }),
  );
}
