import { toolKey, toolName, type ToolContract } from '#contracts';
import { CountersignError, type ErrorDetail } from '#kernel';
import {
  checkPublishable,
  contractDigest,
  diffContracts,
  parseToolName,
  publishFaults,
  type ContractStore,
  type Standing,
  type StandingContract,
  type ToolDiff,
  type ToolReview,
  type ToolShelf,
} from '#registry';
import type { Caller } from '../domain/caller.ts';
import { HttpProblem, notFound, outsideScope } from '../domain/problem.ts';
import { needsReview, reachFaults, type Change } from '../domain/publish-rules.ts';
import { mayUse } from '../domain/tool-scope.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';

export interface ToolPublisherParts {
  readonly store: ContractStore;
  readonly shelf: ToolShelf;
  readonly tools: ToolCatalogue;
  /** Does a second person look at what matters before it is published? */
  readonly reviews: boolean;
  /** Origins and settings that HTTP tools may name; `*` = all. */
  readonly allow: readonly string[];
}

export interface Published {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly state: 'published' | 'pending_review';
  readonly live: boolean;
  readonly change: Change;
  readonly note: string | null;
  /** False: it stood there already. */
  readonly isNew: boolean;
}

export interface NamedDiff extends ToolDiff {
  readonly from: string;
  readonly to: string;
}

const LOCAL_NOTE =
  'its code is not part of a contract: it runs where an executor has the workspace that holds this very version';

/**
 * Publishes tools, compares them, and takes them out of use.
 * U1 a published version never changes: the same again is no change, other content under it is a conflict with its diff;
 * U2 with `reviews`, what is new, says something else to a model, or may do more goes to the reviewers first;
 * U3 a credential that covers certain tools publishes and stops only those; others are as if they were not there.
 */
export class ToolPublisher {
  readonly #parts: ToolPublisherParts;

  constructor(parts: ToolPublisherParts) {
    this.#parts = parts;
  }

  /** @throws HttpProblem 403, 409 (other content), 412; CountersignError INVALID_ARGS with every fault */
  async put(caller: Caller, contract: ToolContract, onlyNew: boolean): Promise<Published> {
    const { store, shelf, tools, reviews } = this.#parts;
    const { tenant } = caller;
    const [tool, key] = [toolName(contract), toolKey(contract)];
    if (!mayUse(caller, tool)) throw outsideScope('/name', tool);
    this.#check(contract);
    const digest = contractDigest(contract);
    const [same, live] = await Promise.all([store.resolve(tenant, key), store.resolve(tenant, tool)]);
    if (same && onlyNew)
      throw new HttpProblem(412, 'CONTRACT_CHANGED', `${key} is published already`, {
        details: [{ path: 'header:If-None-Match', rule: 'absent' }],
      });
    if (same && same.digest !== digest) throw otherContent(same, contract);
    const change: Change = live ? diffContracts(live.contract, contract).kind : 'first';
    const head = { tool, version: contract.version, digest, change };
    const note = contract.execution.kind === 'local' ? LOCAL_NOTE : null;
    if (!same && reviews && needsReview(change)) {
      await shelf.propose({ tenant, by: caller.principal.id }, contract, change);
      return { ...head, state: 'pending_review', live: false, note: 'another publisher must approve it', isNew: true };
    }
    const [published] = await store
      .publishAll(tenant, [contract], caller.principal.id)
      .catch(async (error: unknown) => {
        const raced = isConflict(error) ? await store.resolve(tenant, key) : null;
        throw raced ? otherContent(raced, contract) : error;
      });
    tools.renew(tenant);
    const now = await store.resolve(tenant, tool);
    return { ...head, state: 'published', live: now?.digest === digest, note, isNew: published!.added };
  }

  /** @param name ns.name or ns.name@version. @throws HttpProblem 404 */
  async setStanding(caller: Caller, name: string, standing: Standing | null, reason: string): Promise<string> {
    const { tool, version } = this.#asked(caller, name);
    const place = { tenant: caller.tenant, tool, version: version ?? '' };
    await this.#parts.shelf.setStanding(place, standing, caller.principal.id, reason);
    this.#parts.tools.renew(caller.tenant);
    return version === null ? tool : `${tool}@${version}`;
  }

  /** @param against a version of the same tool; absent = the one that is live. @throws HttpProblem 404 */
  async diff(caller: Caller, name: string, against: string | undefined): Promise<NamedDiff> {
    const { store } = this.#parts;
    const { tool, version } = this.#asked(caller, name);
    const [to, from] = await Promise.all([
      store.resolve(caller.tenant, version === null ? tool : `${tool}@${version}`),
      store.resolve(caller.tenant, against === undefined ? tool : `${tool}@${against}`),
    ]);
    if (!to || !from) throw notFound(to ? 'version to compare with' : 'tool');
    return namedDiff(from, to);
  }

  /** What became of a tool, newest first. @throws HttpProblem 404 */
  async changes(
    caller: Caller,
    name: string,
    { limit, after }: { readonly limit: number; readonly after: string | undefined },
  ): Promise<{ readonly items: readonly object[]; readonly next: string | null }> {
    const { tool, version } = this.#asked(caller, name);
    const place = { tenant: caller.tenant, tool, version: version ?? '' };
    const found = await this.#parts.shelf.changes(place, after === undefined ? null : Number(after), limit + 1);
    if (found.length === 0 && after === undefined) throw notFound('tool');
    const items = found.slice(0, limit);
    return {
      items: items.map((change) => ({ ...change, version: change.version === '' ? null : change.version })),
      next: found.length > limit ? String(items.at(-1)!.changeNo) : null,
    };
  }

  /** What waits for a reviewer, each with its diff against what is live. */
  async reviews(caller: Caller): Promise<(ToolReview & { readonly diff: NamedDiff | null })[]> {
    const { shelf, store } = this.#parts;
    const waiting = (await shelf.reviews(caller.tenant)).filter(({ tool }) => mayUse(caller, tool));
    return Promise.all(
      waiting.map(async (review) => {
        const live = await store.resolve(caller.tenant, review.tool);
        return { ...review, diff: live && namedDiff(live, review) };
      }),
    );
  }

  /** @throws HttpProblem 404, CountersignError PERMISSION_DENIED, CONTRACT_CHANGED, INVALID_ARGS */
  async review(
    caller: Caller,
    name: string,
    answer: { readonly decision: 'approve' | 'reject'; readonly digest: string; readonly reason: string | null },
  ): Promise<ToolReview> {
    const { tool, version } = this.#asked(caller, name);
    if (version === null) throw notFound('version that waits for a review; name it as ns.name@version');
    const by = { tenant: caller.tenant, by: caller.principal.id };
    const reviewed = await this.#parts.shelf.review(by, tool, version, answer);
    this.#parts.tools.renew(caller.tenant);
    return reviewed;
  }

  #check(contract: ToolContract): void {
    const faults = [...reachFaults(contract, this.#parts.allow), ...unstorable(contract)];
    if (faults.length === 0) return checkPublishable(contract);
    const all = [...publishFaults(contract), ...faults];
    const text = all.map(({ path, message }) => `${path} ${message}`).join('; ');
    throw new CountersignError('INVALID_ARGS', `Not publishable: ${text}`, { details: all });
  }

  #asked(caller: Caller, name: string): { readonly tool: string; readonly version: string | null } {
    const asked = parseToolName(name);
    if (!asked || !mayUse(caller, asked.tool)) throw notFound('tool');
    return asked;
  }
}

const namedDiff = (from: Pick<StandingContract, 'contract'>, to: Pick<StandingContract, 'contract'>): NamedDiff => ({
  from: toolKey(from.contract),
  to: toolKey(to.contract),
  ...diffContracts(from.contract, to.contract),
});

/** PostgreSQL keeps no NUL in a text. */
const unstorable = (contract: ToolContract): ErrorDetail[] =>
  JSON.stringify(contract).includes('\\u0000')
    ? [{ path: '', rule: 'character', message: 'holds the character U+0000, which cannot be stored: remove it' }]
    : [];

const isConflict = (error: unknown): boolean =>
  error instanceof CountersignError && error.code === 'IDEMPOTENCY_CONFLICT';

function otherContent(stands: StandingContract, wanted: ToolContract): HttpProblem {
  const text = `${toolKey(wanted)} is published with other content, and a published version never changes: raise the version`;
  return new HttpProblem(409, 'CONTRACT_CHANGED', text, {
    details: [{ path: '/version', rule: 'immutable' }],
    extension: { digest: stands.digest, diff: namedDiff(stands, { contract: wanted }) },
  });
}
