import { toolKey, toolName, type PublishedContract, type ToolContract, type ToolRef } from '#contracts';
import type { Clock } from '#kernel';
import { parseToolName, type ContractStore, type StandingContract } from '#registry';

/** A replica may have published meanwhile: what is older is read again, beside the request that noticed. */
const FRESH_MS = 2_000;
/** A name that is not there is looked for again at most this often. */
const MISS_MS = 250;
const MAX_TENANTS = 1_000;
const MAX_PINNED = 10_000;

interface Snapshot {
  readonly readAt: number;
  readonly live: readonly StandingContract[];
  readonly byName: ReadonlyMap<string, StandingContract>;
  /** Also of tools whose live version is quarantined. */
  readonly names: ReadonlySet<string>;
  /** Digest of a contract → the tool that it names for its undo. */
  readonly needsOf: ReadonlyMap<string, readonly string[]>;
}

const refOf = ({ digest, contract }: PublishedContract): ToolRef => ({ tool: toolKey(contract), digest });

/**
 * The live tools of each tenant in memory: no request of a known tool costs a statement.
 * C1 a quarantined version is neither listed nor resolved, and no older one takes its place under `ns.name`;
 * C2 after `renew` nothing that was read before it is given any more.
 */
export class ToolCatalogue {
  readonly #store: Pick<ContractStore, 'list' | 'resolve'>;
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #reading = new Map<string, Promise<Snapshot>>();
  /** Versions that are not live: immutable, so kept until the tenant's tools change. */
  readonly #pinned = new Map<string, ToolRef>();
  #renewals = 0;

  constructor(store: Pick<ContractStore, 'list' | 'resolve'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The tenant's tools have changed. */
  renew(tenant: string): void {
    this.#renewals++;
    this.#snapshots.delete(tenant);
    this.#reading.delete(tenant);
    for (const key of this.#pinned.keys()) if (key.startsWith(`${tenant} `)) this.#pinned.delete(key);
  }

  async list(tenant: string): Promise<readonly StandingContract[]> {
    return (await this.#snapshot(tenant)).live;
  }

  async refs(tenant: string, limit: number): Promise<ToolRef[]> {
    return (await this.list(tenant)).slice(0, limit).map(refOf);
  }

  /** Names of the tools that undo calls of these; of versions that are not live nothing is known. */
  async undoNames(tenant: string, refs: readonly ToolRef[]): Promise<string[]> {
    const { needsOf } = await this.#snapshot(tenant);
    if (needsOf.size === 0) return [];
    return [...new Set(refs.flatMap(({ digest }) => needsOf.get(digest) ?? []))];
  }

  /** `ns.name`, `ns.name@version` or `ns__name`; null when it is not published for the tenant. */
  async resolve(tenant: string, name: string): Promise<ToolRef | null> {
    const asked = parseToolName(name);
    if (!asked) return null;
    const found = pick(await this.#snapshot(tenant), asked.tool, asked.version);
    if (found) return refOf(found);
    const renewed = await this.#snapshot(tenant, MISS_MS);
    const late = pick(renewed, asked.tool, asked.version);
    if (late) return refOf(late);
    // A version that is not live exists only where the tool has a live one.
    if (asked.version === null || !renewed.names.has(asked.tool)) return null;
    return this.#resolvePinned(tenant, `${asked.tool}@${asked.version}`);
  }

  /** The contract of `ns.name` or `ns.name@version`, and whether that is the live version; null when it is not published for the tenant, or quarantined. */
  async contract(tenant: string, name: string): Promise<(StandingContract & { readonly live: boolean }) | null> {
    const ref = await this.resolve(tenant, name);
    if (!ref) return null;
    const live = (await this.list(tenant)).find(({ digest }) => digest === ref.digest);
    if (live) return { ...live, live: true };
    const published = await this.#store.resolve(tenant, ref.tool);
    return published && { ...published, live: false };
  }

  async #resolvePinned(tenant: string, key: string): Promise<ToolRef | null> {
    const known = this.#pinned.get(`${tenant} ${key}`);
    if (known) return known;
    const renewals = this.#renewals;
    const published = await this.#store.resolve(tenant, key);
    if (!published || published.standing === 'quarantined') return null;
    if (renewals !== this.#renewals) return refOf(published);
    if (this.#pinned.size >= MAX_PINNED) this.#pinned.clear();
    this.#pinned.set(`${tenant} ${key}`, refOf(published));
    return refOf(published);
  }

  /** @param mustBeYoungerThan milliseconds; without it an older snapshot is given at once and renewed beside */
  #snapshot(tenant: string, mustBeYoungerThan?: number): Snapshot | Promise<Snapshot> {
    const known = this.#snapshots.get(tenant);
    const age = known ? this.#clock.now() - known.readAt : Infinity;
    if (known && age <= (mustBeYoungerThan ?? FRESH_MS)) return known;
    const reading = this.#read(tenant);
    if (!known || mustBeYoungerThan !== undefined) return reading;
    reading.catch(() => undefined); // the old snapshot stays good: contracts never change
    return known;
  }

  #read(tenant: string): Promise<Snapshot> {
    const known = this.#reading.get(tenant);
    if (known) return known;
    const reading = this.#load(tenant).finally(() => {
      if (this.#reading.get(tenant) === reading) this.#reading.delete(tenant);
    });
    this.#reading.set(tenant, reading);
    return reading;
  }

  async #load(tenant: string): Promise<Snapshot> {
    const renewals = this.#renewals;
    const all = await this.#store.list(tenant);
    const live = all.filter(({ standing }) => standing !== 'quarantined');
    const byName = new Map(live.map((published) => [toolName(published.contract), published]));
    const needsOf = new Map(live.flatMap(({ digest, contract }) => neededTools(digest, contract)));
    const names = new Set(all.map(({ contract }) => toolName(contract)));
    const snapshot = { readAt: this.#clock.now(), live, byName, names, needsOf };
    if (renewals !== this.#renewals) return snapshot;
    if (this.#snapshots.size >= MAX_TENANTS) this.#snapshots.clear();
    this.#snapshots.set(tenant, snapshot);
    return snapshot;
  }
}

/** For its undo and its facts. */
function neededTools(digest: string, { compensation, facts }: ToolContract): [string, string[]][] {
  const undo = compensation === undefined || 'pivot' in compensation ? [] : [compensation.tool];
  const needed = facts ? [...undo, facts.tool] : undo;
  return needed.length === 0 ? [] : [[digest, needed]];
}

function pick(snapshot: Snapshot, tool: string, version: string | null): StandingContract | null {
  const live = snapshot.byName.get(tool);
  return live && (version === null || live.contract.version === version) ? live : null;
}
