import { setTimeout as pause } from 'node:timers/promises';
import { errorFields, type Log } from '#runtime';
import type { ReconciliationRepository } from '../adapters/reconciliation.repository.ts';
import { foundApplied } from '../domain/finding.ts';
import type { GrantedCall, PreparedCall } from '../domain/prepared-call.ts';
import type { Ending } from '../domain/settlement.ts';
import type { RunOutcome, ViewMaker } from '../domain/tool-runner.port.ts';

/** The answer may come while the call is still in work: its settlement, which may be another one, is waited for a little. */
const TRIES = 6;
const PAUSE_MS = 250;

export interface LateAnswersOptions {
  readonly findings: ReconciliationRepository;
  readonly views: ViewMaker;
  readonly log: Log;
}

/**
 * Answers of the tool that came when the call was no longer this process's, or was settled already.
 * L1 they overwrite nothing: they are evidence, and decide an unknown outcome only by the conditional update that all finders use;
 * L2 an answer proves that the write was applied; a failure proves nothing, since another owner may have acted too.
 */
export class LateAnswers {
  readonly #options: LateAnswersOptions;

  constructor(options: LateAnswersOptions) {
    this.#options = options;
  }

  /** As the runner gave it. */
  take(call: PreparedCall, outcome: RunOutcome): void {
    if (!call.write) return;
    if (outcome.kind === 'failed') return this.#run(call, () => this.#note(call, outcome.error.code));
    this.#run(call, async () => {
      const about = { callId: call.callId, tool: call.claims.tool, tenant: call.claims.tenant };
      await this.#applied(call, await this.#options.views(call.contract, outcome.value, outcome.raw, about));
    });
  }

  /** As it was to be recorded, when the record was another's by then. */
  takeEnding(call: GrantedCall, ending: Ending): void {
    if (call.claims.effectClass === 'read' || ending.replayed) return;
    if (ending.status === 'outcome_unknown') return;
    if (ending.status === 'succeeded') return this.#run(call, () => this.#applied(call, ending.result));
    this.#run(call, () => this.#note(call, ending.error?.code ?? 'INTERNAL'));
  }

  async #applied({ callId }: GrantedCall, result: Ending['result']): Promise<void> {
    const evidence = 'The tool answered after the call was given up.';
    const finding = foundApplied({ by: 'late_answer', evidence, result });
    for (let tries = 1; ; tries++) {
      const words = { callId, source: 'late_answer', evidence } as const;
      const { kind } = await this.#options.findings.amend(callId, null, () => finding, { evidence: words });
      if (kind !== 'absent' || tries >= TRIES) return;
      await pause(PAUSE_MS * 2 ** tries, undefined, { ref: false });
    }
  }

  async #note({ callId }: GrantedCall, code: string): Promise<void> {
    const evidence = `An attempt that was given up came back with ${code}.`;
    await this.#options.findings.amend(callId, null, () => null, {
      evidence: { callId, source: 'late_answer', evidence },
    });
  }

  #run({ callId }: GrantedCall, work: () => Promise<void>): void {
    work().catch((error: unknown) =>
      this.#options.log.warn({ ...errorFields(error), callId }, 'a late answer could not be kept'),
    );
  }
}
