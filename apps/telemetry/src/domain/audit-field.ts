/**
 * The fields of a record: public names, values without content.
 *
 * F1 a text gets in by its form alone (an id, a name, a code, a digest). Whatever has another form (a sentence, an argument,
 *    a result, a stack trace that slipped into a name) is withheld, wherever it came from;
 * F2 a field's form is also its JSON Schema: what is published of it is what is let in.
 */
export type AuditValue = string | number | boolean | null | readonly string[];
export type AuditData = Readonly<Record<string, AuditValue>>;

export interface AuditField<D> {
  readonly form: FieldForm;
  readonly of: (data: D) => AuditValue | undefined;
}

interface FieldForm {
  /** The form of a text, or of each of a list. */
  readonly pattern?: RegExp;
  /** JSON Schema; every field may be null. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export const WITHHELD = '(withheld)';

const textSchema = (pattern: RegExp): object => ({ anyOf: [{ pattern: pattern.source }, { const: WITHHELD }] });

type Texts = (pattern: RegExp) => <D>(of: (data: D) => string | null | undefined) => AuditField<D>;
type Lists = (pattern: RegExp) => <D>(of: (data: D) => readonly string[] | null | undefined) => AuditField<D>;

const text: Texts = (pattern) => {
  const form = { pattern, schema: { type: ['string', 'null'], ...textSchema(pattern) } };
  return (of) => ({ form, of });
};
const list: Lists = (pattern) => {
  const form = { pattern, schema: { type: ['array', 'null'], items: { type: 'string', ...textSchema(pattern) } } };
  return (of) => ({ form, of });
};

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Ids and names of ours, of policies and of people as their credentials name them; no white space, no quotes. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.:@/+|=~-]{0,191}$/u;

export const digest = text(DIGEST);
export const digests = list(DIGEST);
export const name = text(NAME);
export const names = list(NAME);
/** An error code. */
export const code = text(/^[A-Z][A-Z0-9_]{1,63}$/);
/** A word of ours: a status, a decision, an effect. */
export const word = text(/^[a-z][a-z_]{0,31}$/);
export const instant = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/);
export const toolName = text(/^[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,127}(?:@\d{1,9}\.\d{1,9}\.\d{1,9})?$/);
export const namespace = text(/^[a-z][a-z0-9_]{0,63}$/);
/** W3C trace context. */
export const trace = text(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);

const NUMBER: FieldForm = { schema: { type: ['number', 'null'] } };
const FLAG: FieldForm = { schema: { type: ['boolean', 'null'] } };
/** A count, a number of something, a duration. */
export const number = <D>(of: (data: D) => number | null | undefined): AuditField<D> => ({ form: NUMBER, of });
export const flag = <D>(of: (data: D) => boolean | null | undefined): AuditField<D> => ({ form: FLAG, of });

/** The one way into a record. */
export function readFields<D>(fields: Readonly<Record<string, AuditField<D>>>, data: D): AuditData {
  const read: Record<string, AuditValue> = {};
  for (const field in fields) {
    const { form, of } = fields[field]!;
    read[field] = admitted(form, of(data) ?? null);
  }
  return read;
}

function admitted({ pattern }: FieldForm, value: AuditValue): AuditValue {
  if (typeof value === 'string') return pattern?.test(value) ? value : WITHHELD;
  if (typeof value === 'object' && value !== null) return value.map((item) => (pattern?.test(item) ? item : WITHHELD));
  return value;
}

/** JSON Schema of the fields. */
export const schemaOfFields = (fields: Readonly<Record<string, AuditField<never>>>): Record<string, object> =>
  Object.fromEntries(Object.entries(fields).map(([field, { form }]) => [field, form.schema]));
