import { toolName, type ToolContract } from '#contracts';
import { CountersignError } from '#kernel';
import type { Database } from '#persistence';
import { checkPublishable } from './check-publishable.ts';
import { contractDigest } from './contract-digest.ts';
import type { QuarantinedTool } from './quarantine.ts';
import { insertVersions } from './queries/insert-versions.query.ts';
import { raiseLiveVersions } from './queries/raise-live-versions.query.ts';
import { raiseRevision } from './queries/raise-revision.query.ts';
import type { Standing } from './queries/select-published.query.ts';
import * as shelf from './queries/tool-shelf.query.ts';

export type { ToolPlace, ToolReview } from './queries/tool-shelf.query.ts';

const MAX_REVIEWS = 1_000;
const CHANGE = { quarantined: 'quarantined', deprecated: 'deprecated' } as const;

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
 * S1 every change stands in the tool's history with who made it and why, in its own commit;
 * S2 a quarantined tool is no tool for anyone until a person releases it, whatever is published meanwhile;
 * S3 what a reviewer approves is the content that was looked at, and never the reviewer's own.
 */
export class ToolShelf {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param standing null releases it
   * @returns whether anything changed
   * @throws CountersignError NOT_FOUND when the tenant has no such tool or version
   */
  setStanding(place: shelf.ToolPlace, standing: Standing | null, by: string, reason: string): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      if (!(await shelf.isPublished(tx, place))) throw noSuch();
      const changed = await shelf.setStanding(tx, place, standing);
      if (!changed) return false;
      await shelf.insertChange(tx, place, standing === null ? 'released' : CHANGE[standing], by, reason);
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
    await this.#database.transaction(async (tx) => {
      const isNew = await shelf.putReview(tx, place, { digest, contract, author: by, change });
      if (isNew) await shelf.insertChange(tx, place, 'proposed', by, null);
    });
    return digest;
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
    return this.#database.transaction(async (tx) => {
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
      await shelf.insertChange(tx, place, answer.decision === 'approve' ? 'approved' : 'rejected', by, answer.reason);
      if (answer.decision === 'approve') {
        const row = { tool, version, digest: review.digest, body: JSON.stringify(review.contract) };
        const added = await insertVersions(tx, tenant, [row], review.author);
        if (added.size === 0)
          throw new CountersignError(
            'CONTRACT_CHANGED',
            `${tool}@${version} was published meanwhile; raise the version`,
          );
        await raiseLiveVersions(tx, tenant, [tool]);
        await raiseRevision(tx, tenant);
      }
      return review;
    });
  }
}

const noSuch = (): CountersignError => new CountersignError('NOT_FOUND', 'There is no such tool');
