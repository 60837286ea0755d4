/**
 * Texts that look like credentials. Each pattern names its class; the class is what the label and the audit show,
 * never the value. A pattern must be linear and must not match ordinary ids, digests or prose.
 */
interface SecretPattern {
  readonly label: string;
  readonly pattern: RegExp;
}

const PATTERNS: readonly SecretPattern[] = [
  {
    label: 'private-key',
    pattern: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,16384}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  },
  { label: 'bearer-token', pattern: /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,4096}/gi },
  { label: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,4096}/g },
  { label: 'aws-key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { label: 'github-token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})/g },
  { label: 'slack-token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { label: 'google-key', pattern: /\bAIza[A-Za-z0-9_-]{35}/g },
  { label: 'api-key', pattern: /\b(?:sk|rk|pk)(?:-[a-z]{2,12}){0,2}[-_](?:live_|test_)?[A-Za-z0-9_-]{20,255}/g },
  { label: 'url-password', pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]{1,256}:[^\s/@"'<>]{1,256}@/gi },
  {
    label: 'assigned-secret',
    pattern:
      /\b(?:password|passwd|secret|api[_-]?key|access[_-]?token|client[_-]?secret)["']?\s{0,4}[:=]\s{0,4}["']?[^\s"',;}]{6,512}/gi,
  },
];

/** One cheap look at a whole text, before any walk: false = no pattern can match. */
const HINT =
  /PRIVATE KEY|bearer|basic|eyJ|AKIA|ASIA|gh[pousr]_|github_pat_|xox[abeoprs]-|AIza|\b(?:sk|rk|pk)[-_]|:\/\/[^\s/]{1,512}@|passw|secret|api[_-]?key|(?:access|refresh)[_-]?token|private_?key|authorization|set-cookie/i;

export const mayHoldSecret = (text: string): boolean => HINT.test(text);

/** Fields whose whole text is a secret whatever it looks like. */
export const SECRET_FIELD =
  /^(?:password|passwd|secret|client_?secret|api_?key|access_?token|refresh_?token|private_?key|authorization|set-cookie)$/i;

export interface Redacted {
  readonly text: string;
  readonly count: number;
}

/** Replaces secrets by `[redacted: <class>]`; `known` are values that the executor itself holds. */
export function redactSecrets(text: string, known: readonly string[] = []): Redacted {
  let count = 0;
  let out = text;
  for (const value of known) {
    if (value.length < 6 || !out.includes(value)) continue;
    const parts = out.split(value);
    count += parts.length - 1;
    out = parts.join('[redacted: secret]');
  }
  if (!mayHoldSecret(out)) return { text: out, count };
  for (const { label, pattern } of PATTERNS) {
    out = out.replace(pattern, () => {
      count++;
      return `[redacted: ${label}]`;
    });
  }
  return { text: out, count };
}
