import { setTimeout as pause } from 'node:timers/promises';
import type { Message, ToolContract } from '#contracts';
import type { Clock } from '#kernel';
import { errorFields, type Log } from '#runtime';
import { insertEvidence, readLastWords } from '../adapters/reconciliation.query.ts';
import type { Judge, ReconciliationRepository } from '../adapters/reconciliation.repository.ts';
import { byResolution, leftToPerson, resolutionRefused, type Finding } from '../domain/finding.ts';
import { storedCall } from '../domain/prepared-call.ts';
import type { ViewMaker } from '../domain/tool-runner.port.ts';

type Reconcile = Message<'ReconcileCall'>;

export interface ResolutionsOptions {
  readonly findings: ReconciliationRepository;
  readonly contracts: { byDigest(digest: string): Promise<ToolContract> };
  readonly views: ViewMaker;
  readonly log: Log;
  readonly clock: Clock;
  readonly pool: string;
  /** Two people, whatever the contract says. */
  readonly fourEyes: boolean;
}

/** A settlement and the record of it are one commit: what is asked for is there, or comes never. */
const TRIES = 3;
const PAUSE_MS = 100;

/**
 * What people say of unknown outcomes.
 * P1 one that is decided is not decided again: what stands is published again, and tells the person so;
 * P2 the same command again adds nothing and is answered with what stands;
 * P3 with four eyes the last words of two different people must be the same; the first is shown as proposed;
 * P4 the words lie with the record, never in a log;
 * P5 a call that this journal has no record of is refused, so that nobody waits for it.
 */
export class Resolutions {
  readonly #options: ResolutionsOptions;

  constructor(options: ResolutionsOptions) {
    this.#options = options;
  }

  async reduce(messages: readonly Reconcile[]): Promise<void> {
    for (const message of messages) await this.#resolve(message);
  }

  /** @throws InfrastructureError when the registry cannot be asked */
  async #resolve(message: Reconcile, attempt = 1): Promise<void> {
    const { findings, log, pool, clock } = this.#options;
    const callId = message.callId!;
    const answer = await findings.amend(callId, null, this.#judgeOf(message), { tellAgain: true, reopens: true });
    if (answer.kind !== 'absent') return;
    if (attempt >= TRIES) {
      log.warn({ callId }, 'a resolution for a call that is not unknown here: refused');
      return findings.tell([resolutionRefused(message, pool, clock.now())]);
    }
    await pause(PAUSE_MS);
    return this.#resolve(message, attempt + 1);
  }

  #judgeOf(message: Reconcile): Judge {
    const { commandId, principal, resolution, evidence } = message.data;
    return async (row, tx) => {
      if (row.tenant !== message.tenant) {
        this.#options.log.warn({ callId: row.callId }, 'a resolution of another tenant: dropped');
        return null;
      }
      const words = { callId: row.callId, source: 'person', commandId, person: principal.id, resolution } as const;
      const isNew = await insertEvidence(tx, { ...words, evidence });
      const contract = await this.#contractOf(row.message);
      const origin = { by: 'person', evidence, commandId, principal } as const;
      const needed = this.#options.fourEyes || contract?.onUnknown?.fourEyes === true ? 2 : 1;
      const said = await readLastWords(tx, row.callId);
      if (said.filter((word) => word.resolution === resolution).length < needed) {
        const effect = row.state === 'partially_applied' ? 'partial' : 'unknown';
        return isNew ? leftToPerson(origin, { proposed: resolution, effect }) : null;
      }
      const result = resolution === 'applied' ? await this.#viewsOf(row.message, contract, message.data.result) : null;
      return byResolution[resolution]({ ...origin, result });
    };
  }

  async #contractOf(granted: Buffer): Promise<ToolContract | null> {
    const { claims } = storedCall(granted);
    return (await this.#options.contracts.byDigest(claims.contractDigest)) ?? null;
  }

  /** A result that a person gives passes where an answer of the tool would pass (G10). */
  async #viewsOf(granted: Buffer, contract: ToolContract | null, result: unknown): Promise<Finding['result']> {
    if (result === undefined || contract === null) return null;
    const { claims } = storedCall(granted);
    const about = { callId: claims.callId, tool: claims.tool, tenant: claims.tenant };
    try {
      return await this.#options.views(contract, result, Buffer.from(JSON.stringify(result)), about);
    } catch (error) {
      this.#options.log.error({ ...errorFields(error), callId: claims.callId }, 'the views could not be made');
      return null;
    }
  }
}
