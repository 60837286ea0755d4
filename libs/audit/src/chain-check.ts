import { GrowingTree, leafHash } from '#kernel';
import type { AuditRecordText } from './audit-record.ts';
import type { FaultList } from './audit-report.ts';
import { DigestList } from './digest-list.ts';

/**
 * One ledger's chain, record by record.
 *
 * V1 records are linked in the order of their sequences, whatever the order in which they come;
 * V2 a record that comes before its predecessors waits, at most `maxBuffered` of them: then what is missing is given up;
 * V3 a sequence that was read once is final: the same bytes again are a repeat, other bytes a fork;
 * V4 a broken link is judged when its neighbours are known, so that the record that was changed is named, not its victim.
 */
export class ChainCheck {
  readonly #ledger: string;
  readonly #faults: FaultList;
  readonly #ordered: boolean;
  readonly #maxBuffered: number;
  readonly #digests = new DigestList();
  readonly #waiting = new Map<number, Pick<AuditRecordText, 'digest' | 'previous'>>();
  readonly #givenUp = new Set<number>();
  readonly #breaks: { readonly sequence: number; readonly previous: string }[] = [];
  #head = '';
  #greatest = 0;
  #firstFault = Infinity;

  constructor(ledger: string, faults: FaultList, options: { ordered: boolean; maxBuffered: number }) {
    this.#ledger = ledger;
    this.#faults = faults;
    this.#ordered = options.ordered;
    this.#maxBuffered = options.maxBuffered;
  }

  /** Sequence of the last linked record. */
  get size(): number {
    return this.#digests.size;
  }

  /** Hex. */
  get head(): string {
    return this.#head;
  }

  /** Hex digest of a linked record; '' when there is none. */
  digestAt(sequence: number): string {
    return this.#digests.at(sequence);
  }

  /** Whether each record up to this one was read and is linked: else the fault is told, and the tree over them says nothing more. */
  isWhole(sequence: number): boolean {
    return sequence <= this.size && sequence < this.#firstFault;
  }

  /** Roots of the tree at these sizes, growing, each within what is whole. */
  rootsAt(sizes: readonly number[]): ReadonlyMap<number, string> {
    const tree = new GrowingTree();
    const roots = new Map<number, string>();
    for (const size of sizes) {
      while (tree.size < size) tree.push(leafHash(this.#digests.bytesAt(tree.size + 1)));
      roots.set(size, tree.root().toString('hex'));
    }
    return roots;
  }

  /** @returns whether the record is new */
  add(record: AuditRecordText): boolean {
    const { sequence } = record;
    if (sequence <= this.size && !this.#givenUp.has(sequence)) return this.#again(record, this.#digests.at(sequence));
    const waits = this.#waiting.get(sequence);
    if (waits) return this.#again(record, waits.digest);
    if (this.#ordered && sequence < this.#greatest)
      this.#fault('reordered', sequence, `record ${sequence} stands behind record ${this.#greatest}`);
    if (sequence > this.size + MAX_GAP) {
      this.#fault('unreadable', sequence, `the sequence ${sequence} is far beyond the ${this.size} records before it`);
      return false;
    }
    this.#greatest = Math.max(this.#greatest, sequence);
    if (sequence <= this.size) return this.#givenUp.delete(sequence);
    if (sequence === this.size + 1) {
      this.#link(record);
      this.#linkWaiting();
    } else {
      this.#waiting.set(sequence, { digest: record.digest, previous: record.previous });
      if (this.#waiting.size > this.#maxBuffered) this.#giveUpGap();
    }
    return true;
  }

  /** Judges what can be judged only at the end. `isSigned`: this record is the one that a checkpoint signs. */
  conclude(isSigned: (sequence: number) => boolean): void {
    while (this.#waiting.size > 0) this.#giveUpGap();
    for (let i = 0; i < this.#breaks.length;) {
      let end = i + 1;
      while (this.#breaks[end]?.sequence === this.#breaks[end - 1]!.sequence + 1) end++;
      this.#judge(this.#breaks.slice(i, end), isSigned);
      i = end;
    }
  }

  #again(record: AuditRecordText, known: string): false {
    if (known !== record.digest)
      this.#fault('forked', record.sequence, `two different records have the sequence ${record.sequence}`);
    else if (this.#ordered) this.#fault('duplicate', record.sequence, `record ${record.sequence} is there twice`);
    return false;
  }

  #link({ sequence, digest, previous }: Pick<AuditRecordText, 'sequence' | 'digest' | 'previous'>): void {
    if (previous !== this.#head) {
      this.#breaks.push({ sequence, previous });
      this.#firstFault = Math.min(this.#firstFault, sequence);
    }
    this.#digests.push(digest);
    this.#head = digest;
  }

  #linkWaiting(): void {
    if (this.#waiting.size === 0) return;
    for (let next = this.#waiting.get(this.size + 1); next; next = this.#waiting.get(this.size + 1)) {
      const sequence = this.size + 1;
      this.#waiting.delete(sequence);
      this.#link({ sequence, ...next });
    }
  }

  #giveUpGap(): void {
    const first = this.size + 1;
    this.#firstFault = Math.min(this.#firstFault, first);
    let found = first;
    while (!this.#waiting.has(found)) found++;
    const last = found - 1;
    const which = first === last ? `record ${first} is` : `records ${first} to ${last} are`;
    this.#fault('deleted', first, `${which} missing before record ${found}`);
    // What the survivor says of its predecessor stands for the missing one: a checkpoint can still be compared.
    const survivor = this.#waiting.get(found)!;
    for (let sequence = first; sequence <= last; sequence++) {
      if (this.#givenUp.size < MAX_GIVEN_UP) this.#givenUp.add(sequence);
      this.#digests.push(sequence === last ? survivor.previous : '');
    }
    this.#head = survivor.previous;
    this.#linkWaiting();
  }

  /** Neighbouring broken links. One alone: the record before it was changed. Two: the record between them. */
  #judge(breaks: readonly { sequence: number; previous: string }[], isSigned: (sequence: number) => boolean): void {
    const first = breaks[0]!.sequence;
    const last = breaks.at(-1)!.sequence;
    const moved = breaks.find(({ sequence, previous }) => this.#near(sequence, previous));
    if (moved) {
      this.#fault('reordered', moved.sequence, `record ${moved.sequence} names another record than the one before it`);
      return;
    }
    if (first === last) {
      const changed = first === 1 || isSigned(first - 1) ? first : first - 1;
      this.#fault('edited', changed, `the digest of record ${first - 1} is not the one that record ${first} names`);
      return;
    }
    for (let sequence = first; sequence < last; sequence++)
      this.#fault('edited', sequence, `record ${sequence} fits neither the record before it nor the one after it`);
  }

  /** Whether another record close by has the digest. */
  #near(sequence: number, digest: string): boolean {
    if (digest === '') return sequence > 1;
    for (let at = Math.max(1, sequence - NEAR); at <= Math.min(this.size, sequence + NEAR); at++)
      if (at !== sequence - 1 && this.#digests.at(at) === digest) return true;
    return false;
  }

  #fault(kind: Parameters<FaultList['add']>[0], sequence: number, detail: string): void {
    this.#faults.add(kind, this.#ledger, sequence, detail);
  }
}

const NEAR = 64;
const MAX_GIVEN_UP = 100_000;
/** A sequence that is further away than this was made up. */
const MAX_GAP = 1_000_000;
