const BYTES = 32;

/** SHA-256 digests by sequence, 32 bytes each: a million records cost 32 MB. */
export class DigestList {
  #bytes = Buffer.alloc(BYTES * 1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Sequence `size + 1`; hex. */
  push(hex: string): void {
    const at = this.#size++ * BYTES;
    if (at === this.#bytes.length) {
      const grown = Buffer.allocUnsafe(this.#bytes.length * 2);
      this.#bytes.copy(grown);
      this.#bytes = grown;
    }
    if (hex === '') this.#bytes.fill(0, at, at + BYTES);
    else this.#bytes.write(hex, at, BYTES, 'hex');
  }

  /** Hex digest of the record with this sequence (from 1); '' outside. */
  at(sequence: number): string {
    if (sequence < 1 || sequence > this.#size) return '';
    return this.#bytes.toString('hex', (sequence - 1) * BYTES, sequence * BYTES);
  }

  /** Its 32 bytes. */
  bytesAt(sequence: number): Buffer {
    return this.#bytes.subarray((sequence - 1) * BYTES, sequence * BYTES);
  }
}
