import { errorFields, RepeatedLook, type Log, type Worker } from '#runtime';
import type { ReconciliationRow } from '../adapters/reconciliation.query.ts';
import type { ReconciliationRepository } from '../adapters/reconciliation.repository.ts';
import { foundApplied, foundNotApplied, leftToPerson, type Finding } from '../domain/finding.ts';
import { nextLookMs } from '../domain/look-plan.ts';
import { storedCall, type PreparedCall } from '../domain/prepared-call.ts';
import type { GrantGate } from './grant-gate.ts';
import type { Prober } from './prober.ts';

/** Looks that one process takes at once. */
const LIMIT = 16;
/** Beyond the probe's timeout: for what comes before and after it. */
const SLACK_MS = 10_000;
const MAX_PROBE_MS = 60_000;

export interface ReconcilerOptions {
  readonly findings: ReconciliationRepository;
  readonly gate: GrantGate;
  readonly prober: Prober;
  readonly log: Log;
  /** Milliseconds between looks for what is due. */
  readonly everyMs: number;
  /** Milliseconds after which an unknown outcome is alarming. */
  readonly alarmMs: number;
}

/** Goes on finding out what became of unknown outcomes, slowly, until it is decided or left to a person (U2, U4). */
export class Reconciler implements Worker {
  readonly #options: ReconcilerOptions;
  readonly #looks: RepeatedLook;
  #alarmedAt = -Infinity;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const { everyMs, log } = options;
    const failed = 'unknown outcomes could not be looked at';
    this.#looks = new RepeatedLook({ everyMs, atOnce: true, log, failed, look: () => this.#look() });
  }

  start(): void {
    this.#looks.start();
  }

  drain(): Promise<void> {
    return this.#looks.drain();
  }

  async #look(): Promise<void> {
    const due = await this.#options.findings.claim(LIMIT, MAX_PROBE_MS + SLACK_MS);
    await Promise.all(
      due.map((row) =>
        this.#lookAt(row).catch((error: unknown) =>
          this.#options.log.warn({ ...errorFields(error), callId: row.callId }, 'a look failed; another one will come'),
        ),
      ),
    );
    await this.#alarm();
  }

  async #lookAt(row: ReconciliationRow): Promise<void> {
    const { findings, gate } = this.#options;
    if (row.ownerId !== row.callId) return findings.follow(row);
    const { granted, claims } = storedCall(row.message);
    const answer = await gate.prepare(granted, claims);
    if (answer.kind !== 'open' || answer.call.contract.reconcile === undefined) return findings.lookAgain(row, null);
    const { call } = answer;
    const finding = await this.#find(row, call);
    if (finding === null) return findings.lookAgain(row, nextLookMs(call.contract.reconcile!, row.looks));
    await findings.amend(row.callId, row.epoch, () => finding);
  }

  /** Null: look again later. */
  async #find(row: ReconciliationRow, call: PreparedCall): Promise<Finding | null> {
    const { final, forMs } = call.contract.reconcile!;
    const probed = await this.#options.prober.probe(call, row.takenBack);
    const origin = { by: 'probe', evidence: probed.evidence } as const;
    if (probed.kind === 'applied') return foundApplied({ ...origin, result: probed.result });
    if (probed.kind === 'not_applied' && final) return foundNotApplied(origin);
    if (probed.kind === 'partly') return leftToPerson(origin, { effect: 'partial' });
    const said = `${probed.evidence}; looked ${row.looks} times without certainty`;
    return row.ageMs >= forMs && row.state === 'open' ? leftToPerson({ ...origin, evidence: said }) : null;
  }

  /** No arguments, no words of people: how many and how old. */
  async #alarm(): Promise<void> {
    const { findings, alarmMs, log } = this.#options;
    if (performance.now() - this.#alarmedAt < alarmMs) return;
    const counted = await findings.count();
    if (counted.oldestMs < alarmMs) return;
    this.#alarmedAt = performance.now();
    log.warn({ ...counted }, 'outcomes are unknown for long: see "countersign unknowns list"');
  }
}
