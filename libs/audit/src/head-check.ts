import type { KeyObject } from 'node:crypto';
import type { FaultList } from './audit-report.ts';
import type { ChainCheck } from './chain-check.ts';
import { checkCheckpoint, type CheckpointClaims, type LedgerHead } from './checkpoint.ts';

type SignedHead = Pick<LedgerHead, 'size' | 'head' | 'root'> & { readonly iat: number };

/**
 * What was signed of the ledgers, held against what is there.
 *
 * S1 a checkpoint counts only with a signature of a key that was given;
 * S2 two checkpoints of a tenant follow one another: each ledger of the smaller is the beginning of that of the greater;
 * S3 the record at a signed size is the one that was signed, and the tree over the records up to it has the signed root.
 */
export class HeadCheck {
  readonly #faults: FaultList;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #heads = new Map<string, Map<number, SignedHead>>();
  readonly #checkpoints = new Map<string, CheckpointClaims[]>();

  constructor(keys: ReadonlyMap<string, KeyObject>, faults: FaultList) {
    this.#keys = keys;
    this.#faults = faults;
  }

  /** Ledgers of which something is signed. */
  get ledgers(): Iterable<string> {
    return this.#heads.keys();
  }

  add(jws: string): void {
    const checked = checkCheckpoint(jws, this.#keys);
    if (!checked.ok) {
      this.#faults.add('signature', checked.tenant, checked.size, `a checkpoint is not believed: ${checked.reason}`);
      return;
    }
    const { claims } = checked;
    const others = this.#checkpoints.get(claims.tenant) ?? [];
    this.#checkpoints.set(claims.tenant, [...others, claims]);
    for (const head of claims.ledgers) this.#addHead(head, claims.iat);
  }

  #addHead({ ledger, ...head }: LedgerHead, iat: number): void {
    const heads = this.#heads.get(ledger) ?? new Map<number, SignedHead>();
    this.#heads.set(ledger, heads);
    const same = heads.get(head.size);
    if (!same) heads.set(head.size, { ...head, iat });
    else if (same.head !== head.head || same.root !== head.root)
      this.#faults.add('forked', ledger, head.size, `two signed heads exist for ${head.size} records`);
  }

  /** Of one ledger, when all of it was read. @returns what its summary says of signatures */
  conclude(name: string, chain: ChainCheck): { readonly checkpoints: number; readonly signedUpTo: number } {
    const heads = [...(this.#heads.get(name)?.values() ?? [])].sort((a, b) => a.size - b.size);
    const headOf = new Map(heads.map(({ size, head }) => [size, head.slice(7)]));
    chain.conclude((sequence) => headOf.get(sequence) === chain.digestAt(sequence));
    const roots = chain.rootsAt(heads.map(({ size }) => size).filter((size) => chain.isWhole(size)));
    let signedUpTo = 0;
    for (const { size, head, root } of heads.filter((each) => each.size <= chain.size)) {
      const known = roots.get(size);
      const isSame = chain.digestAt(size) === head.slice(7);
      if (isSame && (known === undefined || known === root.slice(7))) signedUpTo = size;
      else {
        const since = signedUpTo === 0 ? 'the beginning' : `record ${signedUpTo}`;
        const what = isSame ? `the tree of ${size} records` : `record ${size}`;
        const detail = `${what} is not the one that was signed: something since ${since} was written anew`;
        this.#faults.add('rewritten', name, size, detail);
        break;
      }
    }
    const last = heads.at(-1);
    if (last && last.size > chain.size) {
      const at = new Date(last.iat * 1000).toISOString();
      const detail = `${last.size} records were signed at ${at}; there are ${chain.size}`;
      this.#faults.add('truncated', name, chain.size + 1, detail);
    }
    return { checkpoints: heads.length, signedUpTo };
  }

  /** Whether the checkpoints of each tenant follow one another (S2); heads of one size were compared already. */
  concludeOrder(): void {
    for (const [tenant, checkpoints] of this.#checkpoints) {
      const sorted = checkpoints.toSorted((a, b) => a.size - b.size);
      for (let i = 1; i < sorted.length; i++) {
        const sizes = new Map(sorted[i]!.ledgers.map(({ ledger, size }) => [ledger, size]));
        const shrunk = sorted[i - 1]!.ledgers.find(({ ledger, size }) => (sizes.get(ledger) ?? 0) < size);
        if (!shrunk) continue;
        const detail = `a checkpoint of ${sorted[i - 1]!.size} records signs ${shrunk.size} of ${shrunk.ledger}, one of ${sorted[i]!.size} fewer`;
        this.#faults.add('forked', tenant, 0, detail);
      }
    }
  }
}
