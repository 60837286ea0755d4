import { digestOfRecord, readLedgerName } from '#contracts';

/** What the verifier reads of a record; everything else is covered by its digest alone. */
export interface AuditRecordText {
  readonly tenant: string;
  readonly ledger: string;
  readonly sequence: number;
  /** SHA-256 of the record's bytes, hex. */
  readonly digest: string;
  /** Hex digest that the record names as that of the one before it; '' for none. */
  readonly previous: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export const CHECKPOINT_TYPE = 'dev.countersign.audit.checkpoint.v1';
/** What telemetry could not read any more; it has its place in the chain. */
export const GAP_TYPE = 'dev.countersign.audit.gap.v1';

export type ReadRecord =
  | { readonly kind: 'record'; readonly record: AuditRecordText }
  /** A checkpoint among the records of a topic; it has no place in the chain. */
  | { readonly kind: 'checkpoint'; readonly jws: string }
  | { readonly kind: 'unreadable'; readonly ledger: string; readonly reason: string };

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const SEQUENCE = /^[1-9]\d{0,14}$/;

/** Parses once, hashes once. Never throws: what is no record says so. */
export function readRecord(text: string): ReadRecord {
  try {
    return readEvent(JSON.parse(text), text);
  } catch {
    return { kind: 'unreadable', ledger: '', reason: 'it is not JSON' };
  }
}

/** As `readRecord`, of an event that is parsed already. */
export function readEvent(value: unknown, text: string): ReadRecord {
  const event = value as Record<string, unknown> | null;
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    return { kind: 'unreadable', ledger: '', reason: 'it is not an object' };
  const { ledger, sequence, previousdigest: previous = '', type, data } = event;
  const said = typeof ledger === 'string' ? ledger : '';
  const no = (reason: string): ReadRecord => ({ kind: 'unreadable', ledger: said, reason });
  if (typeof data !== 'object' || data === null) return no('it has no data');
  if (type === CHECKPOINT_TYPE && sequence === undefined) {
    const { jws } = data as { jws?: unknown };
    return typeof jws === 'string' ? { kind: 'checkpoint', jws } : no('the checkpoint holds no signature');
  }
  const id = readLedgerName(said);
  if (id === null || typeof type !== 'string') return no('it names no ledger or no type');
  if ((data as { tenant?: unknown }).tenant !== id.tenant) return no('it stands in the ledger of another tenant');
  if (typeof sequence !== 'string' || !SEQUENCE.test(sequence)) return no('it has no sequence');
  if (previous !== '' && !(typeof previous === 'string' && DIGEST.test(previous)))
    return no('its previous digest is malformed');
  return {
    kind: 'record',
    record: {
      tenant: id.tenant,
      ledger: said,
      sequence: Number(sequence),
      digest: digestOfRecord(text),
      previous: previous === '' ? '' : (previous as string).slice(7),
      type,
      data: data as Record<string, unknown>,
    },
  };
}
