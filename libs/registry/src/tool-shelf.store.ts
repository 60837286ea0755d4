import { toolName, type ToolContract } from '#contracts';
import { CountersignError } from '#kernel';
import type { Database, Tx } from '#persistence';
import { checkPublishable } from './check-publishable.ts';
import { contractDigest } from './contract-digest.ts';
import type { QuarantinedTool } from './quarantine.ts';
import { insertVersions } from './queries/insert-versions.query.ts';
import { raiseLiveVersions } from './queries/raise-live-versions.query.ts';
import { raiseRevision } from './queries/raise-revision.query.ts';
import type { Standing } from './queries/select-published.query.ts';
import { untold, type ToolHistoryEntry, type ToolChanges } from './tool-changes.port.ts';
import * as shelf from './queries/tool-shelf.query.ts';

export type { ToldChange, ToolPlace, ToolReview } from './queries/tool-shelf.query.ts';

const MAX_REVIEWS = 1_000;

export interface Proposer {
  readonly tenant: string;
  /** A principal's id. */
  readonly by: string;
}

export interface ReviewAnswer {
  readonly decision: 'approve' | 'reject';
  /** Of the contract that was looked at. */
  readonly digest: string;
  readonly reason: string | null;
}

/**
 * What becomes of tools after, and before, they are published; beside `ContractStore`, in the gateway's schema.
 * S1 every change stands in the tool's history with who made it and why, in its own commit, and is told in it;
 * S2 a quarantined tool is no tool for anyone until a person releases it, whatever is published meanwhile;
 * S3 what a reviewer approves is the content that was looked at, and never the reviewer's own.
 */
export class ToolShelf {
  readonly #database: Database;
  readonly #changes: ToolChanges;

  constructor(database: Database, changes: ToolChanges = untold) {
    this.#database = database;
    this.#changes = changes;
  }

  /**
   * @param standing null releases it
   * @returns whether anything changed
   * @throws CountersignError NOT_FOUND when the tenant has no such tool or version
   */
  setStanding(place: shelf.ToolPlace, standing: Standing | null, by: string, reason: string): Promise<boolean> {
    return this.#telling(place.tenant, async (tx, tell) => {
      const published = await shelf.findPublished(tx, place);
      if (!published) throw noSuch();
      const changed = await shelf.setStanding(tx, place, standing);
      if (!changed) return false;
      const digest = place.version === '' ? null : published.digest;
      tell(await shelf.insertChange(tx, place, { change: standing ?? 'released', digest, by, reason }));
      await raiseRevision(tx, place.tenant);
      return true;
    });
  }

  quarantined(): Promise<QuarantinedTool[]> {
    return shelf.selectQuarantined(this.#database);
  }

  /** The revision of each tenant's tools: it moves when they change. */
  async revisions(): Promise<ReadonlyMap<string, number>> {
    return new Map((await shelf.selectRevisions(this.#database)).map(({ tenant, revision }) => [tenant, revision]));
  }

  /** Lays a version before the reviewers. @param change the kind of its diff, or `first`. @throws CountersignError INVALID_ARGS */
  async propose({ tenant, by }: Proposer, contract: ToolContract, change: string): Promise<string> {
    checkPublishable(contract);
    const digest = contractDigest(contract);
    const place = { tenant, tool: toolName(contract), version: contract.version };
    await this.#telling(tenant, async (tx, tell) => {
      const isNew = await shelf.putReview(tx, place, { digest, contract, author: by, change });
      if (isNew) tell(await shelf.insertChange(tx, place, { change: 'proposed', digest, by, reason: null }));
    });
    return digest;
  }

  /** Newest first. @param before a change's number; null = from the newest on */
  changes(place: shelf.ToolPlace, before: number | null, limit: number): Promise<shelf.ToldChange[]> {
    return shelf.selectChanges(this.#database, place, before, limit);
  }

  reviews(tenant: string): Promise<shelf.ToolReview[]> {
    return shelf.selectReviews(this.#database, tenant, MAX_REVIEWS);
  }

  /**
   * Publishes what waits, or drops it.
   * @throws CountersignError NOT_FOUND (nothing waits), PERMISSION_DENIED (it is the reviewer's own), CONTRACT_CHANGED (other content than was looked at)
   */
  review({ tenant, by }: Proposer, tool: string, version: string, answer: ReviewAnswer): Promise<shelf.ToolReview> {
    const place = { tenant, tool, version };
    return this.#telling(tenant, async (tx, tell) => {
      const review = await shelf.holdReview(tx, place);
      if (!review) throw new CountersignError('NOT_FOUND', 'No such version waits for a review');
      if (review.author === by)
        throw new CountersignError('PERMISSION_DENIED', 'Nobody reviews what is their own; ask another publisher');
      if (review.digest !== answer.digest) {
        const details = [{ path: '/digest', rule: 'current', allowed: [review.digest] }];
        throw new CountersignError('CONTRACT_CHANGED', 'It was proposed anew with other content; look at it again', {
          details,
        });
      }
      await shelf.removeReview(tx, place);
      const change = answer.decision === 'approve' ? 'approved' : 'rejected';
      tell(await shelf.insertChange(tx, place, { change, digest: review.digest, by, reason: answer.reason }));
      if (answer.decision === 'approve') {
        const row = { tool, version, digest: review.digest, body: JSON.stringify(review.contract) };
        const added = await insertVersions(tx, tenant, [row], review.author);
        if (added.length === 0)
          throw new CountersignError(
            'CONTRACT_CHANGED',
            `${tool}@${version} was published meanwhile; raise the version`,
          );
        tell(...added);
        await raiseLiveVersions(tx, tenant, [tool]);
        await raiseRevision(tx, tenant);
      }
      return review;
    });
  }

  /** What `work` tells goes out when its transaction is committed. */
  async #telling<T>(
    tenant: string,
    work: (tx: Tx, tell: (...made: ToolHistoryEntry[]) => void) => Promise<T>,
  ): Promise<T> {
    const { done, emit } = await this.#database.transaction(async (tx) => {
      const made: ToolHistoryEntry[] = [];
      const done = await work(tx, (...changes) => void made.push(...changes));
      return { done, emit: await this.#changes.stage(tx, tenant, made) };
    });
    emit();
    return done;
  }
}

const noSuch = (): CountersignError => new CountersignError('NOT_FOUND', 'There is no such tool');
