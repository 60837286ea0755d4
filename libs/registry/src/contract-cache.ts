import { publishedContractSchema, type ToolContract } from '#contracts';
import { CountersignError } from '#kernel';
import { contractDigest } from './contract-digest.ts';
import { compileInput, compileOutput, type InputValidator, type OutputValidator } from './validator.ts';

/** The runtime's read port, as far as the cache needs it. */
export interface ContractSource {
  read<T>(service: string, question: string, args: object): Promise<T>;
}

interface Entry {
  readonly contract: ToolContract;
  input?: InputValidator;
  output?: OutputValidator;
}

/**
 * Contracts by digest. A published version never changes, so what was read once is kept for ever; what is read is
 * believed only when its digest is the one that was asked for. Failures are not kept: the next ask reads again.
 */
export class ContractCache {
  readonly #source: ContractSource;
  readonly #entries = new Map<string, Entry>();
  readonly #reading = new Map<string, Promise<Entry>>();

  constructor(source: ContractSource) {
    this.#source = source;
  }

  /** @throws CountersignError CONTRACT_CHANGED (not published, or not what its digest says), InfrastructureError (registry away) */
  async byDigest(digest: string): Promise<ToolContract> {
    return (await this.#entry(digest)).contract;
  }

  /** The checker of its arguments, compiled once. @throws as `byDigest` */
  async inputOf(digest: string): Promise<InputValidator> {
    const entry = await this.#entry(digest);
    return (entry.input ??= compileInput(entry.contract));
  }

  /** The checker of its result data, compiled once. @throws as `byDigest` */
  async outputOf(digest: string): Promise<OutputValidator> {
    const entry = await this.#entry(digest);
    return (entry.output ??= compileOutput(entry.contract));
  }

  /** Without a read, if it is known already. */
  peek(digest: string): ToolContract | undefined {
    return this.#entries.get(digest)?.contract;
  }

  #entry(digest: string): Entry | Promise<Entry> {
    const known = this.#entries.get(digest);
    if (known) return known;
    let reading = this.#reading.get(digest);
    if (!reading) {
      reading = this.#read(digest).finally(() => this.#reading.delete(digest));
      this.#reading.set(digest, reading);
    }
    return reading;
  }

  async #read(digest: string): Promise<Entry> {
    const answer = await this.#source.read<unknown>('gateway', 'contract', { digest });
    if (answer === null || answer === undefined) {
      throw new CountersignError('CONTRACT_CHANGED', `No contract with the digest ${digest} is published`);
    }
    const parsed = publishedContractSchema.safeParse(answer);
    const body = (answer as { contract?: unknown }).contract as ToolContract;
    if (!parsed.success || contractDigest(body) !== digest) {
      throw new CountersignError('CONTRACT_CHANGED', `The registry's answer does not have the digest ${digest}`);
    }
    const entry: Entry = { contract: freeze(body) };
    this.#entries.set(digest, entry);
    return entry;
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}
