import { toolKey, toolName, type PublishedContract, type ToolContract } from '#contracts';
import { CountersignError } from '#kernel';
import type { Database } from '#persistence';
import { checkPublishable } from './check-publishable.ts';
import { contractDigest } from './contract-digest.ts';
import { insertVersions, type VersionRow } from './queries/insert-versions.query.ts';
import { raiseLiveVersions } from './queries/raise-live-versions.query.ts';
import { raiseRevision } from './queries/raise-revision.query.ts';
import {
  selectByDigest,
  selectLive,
  selectPublished,
  type StandingContract,
} from './queries/select-published.query.ts';
import { selectVersions } from './queries/select-versions.query.ts';
import { untold, type ToolChanges } from './tool-changes.port.ts';

/** Live tools of one tenant. */
const MAX_TOOLS = 10_000;

/**
 * The registry's tables; they lie in the gateway's schema and only the gateway uses this class.
 * R1 a published version never changes; R2 publishing the same again changes nothing;
 * R3 a tool's live version is the highest one published;
 * R4 what is new is told in its own commit.
 */
export class ContractStore {
  readonly #database: Database;
  readonly #changes: ToolChanges;

  constructor(database: Database, changes: ToolChanges = untold) {
    this.#database = database;
    this.#changes = changes;
  }

  /** @throws CountersignError INVALID_ARGS (not publishable), IDEMPOTENCY_CONFLICT (the version stands with other content) */
  async publish(tenant: string, contract: ToolContract, publisher?: string): Promise<PublishedContract> {
    return (await this.publishAll(tenant, [contract], publisher))[0]!;
  }

  /**
   * All or none, in one transaction.
   * @param publisher who stands in the tool's history
   * @throws as `publish`; the error lists the faults of every contract
   */
  async publishAll(
    tenant: string,
    contracts: readonly ToolContract[],
    publisher = 'workspace',
  ): Promise<(PublishedContract & { readonly added: boolean })[]> {
    if (contracts.length === 0) return [];
    checkPublishable(...contracts);
    const published = contracts.map((contract) => ({ digest: contractDigest(contract), contract }));
    refuseConflicts(published, published.map(identity));
    const rows = [...new Map(published.map((p) => [toolKey(p.contract), toRow(p)])).entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, row]) => row);
    const { added, tell } = await this.#database.transaction(async (tx) => {
      const changes = await insertVersions(tx, tenant, rows, publisher);
      refuseConflicts(published, await selectVersions(tx, tenant, rows));
      await raiseLiveVersions(
        tx,
        tenant,
        rows.map((r) => r.tool),
      );
      if (changes.length > 0) await raiseRevision(tx, tenant);
      const added = new Set(changes.map(({ tool, version }) => `${tool}@${version}`));
      return { added, tell: await this.#changes.stage(tx, tenant, changes) };
    });
    tell();
    return published.map((one) => ({ ...one, added: added.has(toolKey(one.contract)) }));
  }

  /** The live versions, by name; the quarantined ones too. */
  list(tenant: string): Promise<StandingContract[]> {
    return selectLive(this.#database, tenant, MAX_TOOLS);
  }

  /** `ns.name`, `ns.name@1.2.3` or `ns__name`; null when it is not published for the tenant. */
  async resolve(tenant: string, name: string): Promise<StandingContract | null> {
    const asked = parseToolName(name);
    return asked && selectPublished(this.#database, tenant, asked.tool, asked.version);
  }

  byDigest(digest: string): Promise<PublishedContract | null> {
    return selectByDigest(this.#database, digest);
  }
}

export type { Standing, StandingContract } from './queries/select-published.query.ts';

const NAME = /^([a-z][a-z0-9]*(?:_[a-z0-9]+)*)(?:\.|__)([a-z][a-z0-9]*(?:_[a-z0-9]+)*)(?:@(\d+\.\d+\.\d+))?$/;

export interface AskedTool {
  /** ns.name */
  readonly tool: string;
  readonly version: string | null;
}

/** Reads a tool's name as a caller or a model writes it; null when it is none. */
export function parseToolName(name: string): AskedTool | null {
  const [, namespace, tool, version] = NAME.exec(name) ?? [];
  return namespace === undefined ? null : { tool: `${namespace}.${tool}`, version: version ?? null };
}

const identity = ({ digest, contract }: PublishedContract): Pick<VersionRow, 'tool' | 'version' | 'digest'> => ({
  digest,
  tool: toolName(contract),
  version: contract.version,
});

const toRow = (published: PublishedContract): VersionRow => ({
  ...identity(published),
  body: JSON.stringify(published.contract),
});

function refuseConflicts(
  published: readonly PublishedContract[],
  stored: readonly Pick<VersionRow, 'tool' | 'version' | 'digest'>[],
): void {
  const digests = new Map(stored.map((s) => [`${s.tool}@${s.version}`, s.digest]));
  const changed = published
    .filter((p) => digests.get(toolKey(p.contract)) !== p.digest)
    .map((p) => toolKey(p.contract));
  if (changed.length === 0) return;
  throw new CountersignError(
    'IDEMPOTENCY_CONFLICT',
    `A published version never changes, and ${changed.join(', ')} stands with other content: give the changed contract a new version`,
    { details: changed.map((key) => ({ path: '/version', rule: 'immutable', message: key })) },
  );
}
