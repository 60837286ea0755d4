import { InfrastructureError } from '#kernel';
import type { ToolShelf } from '#registry';
import { errorFields, type Log, type Worker } from '#runtime';
import type { ToolCatalogue } from './tool-catalogue.ts';

/** How soon what another gateway published or quarantined counts here. */
const LOOK_MS = 500;

/** Looks whether the tools of a tenant were changed by another gateway: one small statement, beside all requests. */
export class RegistryChanges implements Worker {
  readonly #shelf: Pick<ToolShelf, 'revisions'>;
  readonly #tools: Pick<ToolCatalogue, 'renew'>;
  readonly #log: Log;
  #known: ReadonlyMap<string, number> = new Map();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(shelf: Pick<ToolShelf, 'revisions'>, tools: Pick<ToolCatalogue, 'renew'>, log: Log) {
    this.#shelf = shelf;
    this.#tools = tools;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#looking;
  }

  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => {
        // What is quarantined is refused by policy and the executors too, so an old list here opens nothing.
        if (!(error instanceof InfrastructureError))
          this.#log.error(errorFields(error), 'the changes of the registry cannot be read');
      })
      .finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const revisions = await this.#shelf.revisions();
    for (const [tenant, revision] of revisions) if (this.#known.get(tenant) !== revision) this.#tools.renew(tenant);
    this.#known = revisions;
  }
}
