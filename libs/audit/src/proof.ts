import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { digestSchema, hashRecord } from '#contracts';
import { isConsistent, leafHash, rootOfInclusion } from '#kernel';
import { readEvent } from './audit-record.ts';
import { checkCheckpoint, importKeys, type LedgerHead } from './checkpoint.ts';

const shared = {
  ledger: z.string(),
  size: z.int().min(1),
  path: z.array(digestSchema).max(64),
  checkpoint: z.string(),
};

/** As `GET /v1/audit/proof` answers. */
export const inclusionProofSchema = z.object({
  kind: z.literal('inclusion'),
  ...shared,
  sequence: z.int().min(1),
  /** The CloudEvent. */
  record: z.unknown(),
});
export const consistencyProofSchema = z.object({
  kind: z.literal('consistency'),
  ...shared,
  from: z.int().min(1),
});
export const proofSchema = z.discriminatedUnion('kind', [inclusionProofSchema, consistencyProofSchema]);
export type InclusionProof = Readonly<z.infer<typeof inclusionProofSchema>>;
export type ConsistencyProof = Readonly<z.infer<typeof consistencyProofSchema>>;

export interface CheckProofOptions {
  /** Public keys (JWK) that may sign checkpoints: the auditor's, not those of whoever gave the proof. */
  readonly keys: readonly unknown[];
  /** A consistency proof is about this earlier checkpoint, which the auditor kept. */
  readonly since?: string;
}

export type CheckedProof =
  | { readonly holds: true; readonly ledger: string; readonly size: number; readonly signedAt: string }
  | { readonly holds: false; readonly reason: string };

const no = (reason: string): CheckedProof => ({ holds: false, reason });

/**
 * Checks a proof: the signature of its checkpoint, and that the path leads from the record (or from the earlier checkpoint's
 * head) to the head that is signed. Trusts nothing but the keys.
 * @throws ZodError or TypeError when a key is no Ed25519 JWK
 */
export function checkProof(value: unknown, { keys, since }: CheckProofOptions): CheckedProof {
  const parsed = proofSchema.safeParse(value);
  if (!parsed.success) return no('it has not the form of a proof');
  const proof = parsed.data;
  const trusted = importKeys(keys);
  const signed = headIn(proof.checkpoint, proof.ledger, trusted);
  if (typeof signed === 'string') return no(signed);
  if (signed.size !== proof.size) return no(`it is about ${proof.size} records; ${signed.size} are signed`);
  const path = proof.path.map(bytesOf);
  if (proof.kind === 'inclusion') {
    const text = JSON.stringify(proof.record);
    const read = readEvent(proof.record, text);
    if (read.kind !== 'record') return no('what it holds is no audit record');
    if (read.record.ledger !== proof.ledger || read.record.sequence !== proof.sequence)
      return no('the record has another place than the proof says');
    const root = rootOfInclusion(leafHash(hashRecord(text)), proof.sequence - 1, proof.size, path);
    if (!root?.equals(bytesOf(signed.root))) return no('the record is not one of those that were signed');
  } else {
    if (since === undefined) return no('the earlier checkpoint is missing');
    const earlier = headIn(since, proof.ledger, trusted);
    if (typeof earlier === 'string') return no(`the earlier checkpoint: ${earlier}`);
    if (earlier.size !== proof.from) return no(`it begins at ${proof.from} records; ${earlier.size} were signed`);
    const [first, second] = [earlier, signed].map(({ size, root }) => ({ size, root: bytesOf(root) }));
    if (!isConsistent(first!, second!, path))
      return no('what was signed earlier is not the beginning of what is signed now');
  }
  return { holds: true, ledger: proof.ledger, size: proof.size, signedAt: signed.at };
}

function headIn(
  jws: string,
  ledger: string,
  keys: ReadonlyMap<string, KeyObject>,
): (LedgerHead & { readonly at: string }) | string {
  const checked = checkCheckpoint(jws, keys);
  if (!checked.ok) return `the checkpoint is not believed: ${checked.reason}`;
  const head = checked.claims.ledgers.find((each) => each.ledger === ledger);
  if (!head) return `the checkpoint signs nothing of the ledger ${ledger}`;
  return { ...head, at: new Date(checked.claims.iat * 1000).toISOString() };
}

const bytesOf = (digest: string): Buffer => Buffer.from(digest.slice(7), 'hex');
