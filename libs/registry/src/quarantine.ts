/** How often the list is read again, beside the calls. */
const POLL_MS = 1_000;
/** An older list counts for nothing. */
const TRUST_MS = 10_000;

/** The runtime's read port, as far as this needs it. */
interface QuarantineSource {
  read<T>(service: 'gateway', question: string, args: object): Promise<T>;
}

/** In the place of a tool: the whole tenant is suspended. */
export const ALL_TOOLS = '*';

/** `version` '' = all versions. */
export interface QuarantinedTool {
  readonly tenant: string;
  /** ns.name, or ALL_TOOLS */
  readonly tool: string;
  readonly version: string;
}

/** What the grant and the send are asked of. */
export interface QuarantineList {
  /** Resolves when the list is young enough to be believed. @throws InfrastructureError when it cannot be read (G13) */
  ready(): void | Promise<void>;
  /**
   * For a doubt about one call: resolves when a list was read that was asked for after this.
   * @throws InfrastructureError when it cannot be read (G13)
   */
  renew(): void | Promise<void>;
  /** By the list as it is known. @param tool ns.name@version */
  has(tenant: string, tool: string): boolean;
  /** By the list as it is known: the tenants whose work stands still, every tool of theirs included. */
  readonly suspended: ReadonlySet<string>;
}

/** For where nothing is quarantined. */
export const nothingQuarantined: QuarantineList = {
  ready: () => undefined,
  renew: () => undefined,
  has: () => false,
  suspended: new Set(),
};

/**
 * The quarantined tools of all tenants, as the registry names them, and the suspended tenants.
 * Q1 no call waits for a question of its own: the list is read every POLL_MS, beside the calls;
 * Q2 a list older than TRUST_MS is not believed: who needs it waits for a new one, and where the registry is away that
 *    fails, so that the work is held and nothing is granted or sent (G13);
 * Q3 two services whose lists differ do not hand a call to and fro: who gives a grant back looks anew before, and who gets
 *    it back looks anew before it judges again.
 */
export class Quarantine implements QuarantineList {
  readonly #source: QuarantineSource;
  readonly #now: () => number;
  #tools: ReadonlySet<string> = new Set();
  #suspended: ReadonlySet<string> = new Set();
  #readAt = -Infinity;
  #reading: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** @param now milliseconds of a clock that only goes forward */
  constructor(source: QuarantineSource, now: () => number = () => performance.now()) {
    this.#source = source;
    this.#now = now;
  }

  ready(): void | Promise<void> {
    if (this.#now() - this.#readAt > TRUST_MS) return this.#read();
  }

  async renew(): Promise<void> {
    await this.#reading?.catch(() => undefined); // it may have been asked before
    await this.#read();
  }

  has(tenant: string, tool: string): boolean {
    if (this.#suspended.has(tenant)) return true;
    if (this.#tools.size === 0) return false;
    return this.#tools.has(`${tenant} ${tool}`) || this.#tools.has(`${tenant} ${tool.slice(0, tool.indexOf('@'))}@`);
  }

  get suspended(): ReadonlySet<string> {
    return this.#suspended;
  }

  start(): void {
    const poll = (): void => void this.#read().catch(() => undefined); // an old list ends by Q2
    poll();
    this.#timer = setInterval(poll, POLL_MS);
    this.#timer.unref();
  }

  async drain(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#reading?.catch(() => undefined);
  }

  #read(): Promise<void> {
    this.#reading ??= this.#load().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #load(): Promise<void> {
    const askedAt = this.#now();
    const list = await this.#source.read<readonly QuarantinedTool[]>('gateway', 'quarantined', {});
    const tools = list.filter(({ tool }) => tool !== ALL_TOOLS);
    this.#tools = new Set(tools.map(({ tenant, tool, version }) => `${tenant} ${tool}@${version}`));
    this.#suspended = new Set(list.filter(({ tool }) => tool === ALL_TOOLS).map(({ tenant }) => tenant));
    this.#readAt = askedAt;
  }
}
