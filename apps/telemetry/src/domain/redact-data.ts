/** The data of a record: public names, values without content. */
export type AuditData = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/**
 * The one way into a record. Texts are let through by their form, field by field: ids, names, codes, digests. Whatever has
 * another form (a sentence, an argument, a result, a stack trace that slipped into a name) is withheld, wherever it came from.
 */
export function redactData(data: AuditData): AuditData {
  const redacted: Record<string, AuditData[string]> = {};
  for (const [field, value] of Object.entries(data)) {
    const form = FORMS[field] ?? (field.endsWith('_digest') || field.endsWith('_digests') ? DIGEST : NAME);
    if (typeof value === 'string') redacted[field] = form.test(value) ? value : WITHHELD;
    else if (typeof value === 'object' && value !== null)
      redacted[field] = value.map((item) => (form.test(item) ? item : WITHHELD));
    else redacted[field] = value;
  }
  return redacted;
}

export const WITHHELD = '(withheld)';

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Ids and names of ours, of policies and of people as their credentials name them; no white space, no quotes. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.:@/+|=~-]{0,191}$/u;
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;
const WORD = /^[a-z][a-z_]{0,31}$/;

/** Fields of a narrower form than a name. */
const FORMS: Readonly<Record<string, RegExp>> = {
  error_code: CODE,
  status: WORD,
  outcome: WORD,
  effect: WORD,
  decision: WORD,
  answer: WORD,
  driver: WORD,
  settled_by: WORD,
  principal_kind: WORD,
  risk: WORD,
  side_effects: WORD,
  namespace: /^[a-z][a-z0-9_]{0,63}$/,
  tool: /^[a-z][a-z0-9_]{0,63}\.[a-z][a-z0-9_]{0,127}(?:@\d{1,9}\.\d{1,9}\.\d{1,9})?$/,
  trace_id: /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/,
};
