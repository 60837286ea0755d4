import type { ToolContract } from '#contracts';
import { InfrastructureError } from '#kernel';
import type { ContractShelf, ReadableContract } from '../domain/saga.types.ts';

/** What is needed of the registry's cache. */
export interface Contracts {
  byDigest(digest: string): Promise<ToolContract>;
  inputOf(digest: string): Promise<Pick<ReadableContract, 'validate'>>;
}

/** Contracts that decisions can use without waiting. What cannot be read denies (G13) and is asked for again next time. */
export class Shelf {
  readonly #contracts: Contracts;
  readonly #readable = new Map<string, ReadableContract>();

  constructor(contracts: Contracts) {
    this.#contracts = contracts;
  }

  get readable(): ContractShelf {
    return this.#readable;
  }

  /** Answers the shelf with these on it. @throws InfrastructureError while the registry is away */
  async with(digests: readonly string[]): Promise<ContractShelf> {
    const shelf = new Map<string, ReadableContract | 'unreadable'>();
    await Promise.all(digests.map(async (digest) => shelf.set(digest, await this.#read(digest))));
    return new Map([...this.#readable, ...shelf]);
  }

  async #read(digest: string): Promise<ReadableContract | 'unreadable'> {
    try {
      const contract = await this.#contracts.byDigest(digest);
      const validator = await this.#contracts.inputOf(digest);
      const readable = { contract, validate: (args: unknown) => validator.validate(args) };
      this.#readable.set(digest, readable);
      return readable;
    } catch (error) {
      if (error instanceof InfrastructureError) throw error;
      return 'unreadable';
    }
  }
}
