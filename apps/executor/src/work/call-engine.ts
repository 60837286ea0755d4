import { setTimeout as pause } from 'node:timers/promises';
import type { Reconcile } from '#contracts';
import { faults } from '#kernel';
import { errorFields, type Log } from '#runtime';
import type { Taken } from '../adapters/intend-calls.query.ts';
import { afterProbe, endingOfProbe, isCertain } from '../domain/after-probe.ts';
import { quickPauseMs } from '../domain/look-plan.ts';
import { insteadOfRepeat, saidByProbe, saidOf } from '../domain/cancellation.ts';
import { nextStep, pauseBefore, type NextStep } from '../domain/next-step.ts';
import { repeatOf, sourceKey, type PreparedCall } from '../domain/prepared-call.ts';
import { executorError, unknownEnding, type Ending } from '../domain/settlement.ts';
import type { RunOutcome, ToolRunner, ViewMaker } from '../domain/tool-runner.port.ts';
import type { Lease, LeaseKeeper } from './lease-keeper.ts';
import type { Probed, Prober } from './prober.ts';
import type { StopSwitch } from './stop-switch.ts';

export interface CallEngineOptions {
  readonly runner: ToolRunner;
  readonly views: ViewMaker;
  readonly leases: LeaseKeeper;
  readonly log: Log;
  /** Milliseconds of lease beyond the tool's timeout when a request is sent. */
  readonly marginMs: number;
  readonly random: () => number;
  readonly prober: Prober;
  /** An attempt came back when the call was no longer ours: evidence, if the outcome is unknown to its new owner. */
  readonly onLate: (call: PreparedCall, outcome: RunOutcome) => void;
}

export interface Act {
  readonly call: PreparedCall;
  /** Null for a read without intent. */
  readonly lease: Lease | null;
  readonly taken: Taken | null;
  /** Owners before this one that may have acted. */
  readonly earlier: number;
  /** Asked when the call is cancelled. */
  readonly stop: StopSwitch;
}

const NEVER = new AbortController().signal;

/** Makes the attempts of one call, outside every transaction (J11), and says how it ended. */
export class CallEngine {
  readonly #options: CallEngineOptions;

  constructor(options: CallEngineOptions) {
    this.#options = options;
  }

  /** Null: the call is no longer ours; what came back is handed to `onLate`, never written over another's outcome. */
  async run(act: Act): Promise<Ending | null> {
    const { call } = act;
    const { retry, idempotency, reconcile } = call.contract;
    const started = performance.now();
    const spent = (): number => performance.now() - started;
    const allowed = Math.max(retry.attempts, act.earlier + 1);
    let maybeBefore = act.earlier > 0;
    let made = act.earlier;
    // What an earlier owner may have sent must not be sent again before the probe has said that it never arrives.
    let askFirst = maybeBefore && repeatOf(call.contract) === 'probe';
    for (;;) {
      if (!askFirst) {
        made++;
        const outcome = await this.#attempt(act, made);
        if (outcome === null) return null;
        const next = nextStep(outcome, { write: call.write, repeat: idempotency.mode, made, allowed, maybeBefore });
        let step = next.kind === 'repeat' && act.stop.asked ? insteadOfRepeat(next.maybe) : next;
        if (step.kind === 'repeat') {
          maybeBefore = step.maybe;
          await this.#pause(act, made, outcome);
          if (!act.stop.asked) continue;
          step = insteadOfRepeat(maybeBefore);
        }
        if (step.kind !== 'unknown' || !reconcile || !act.lease) return this.#ending(act, outcome, step, made, spent());
      }
      askFirst = false;
      const found = await this.#findOut(act, act.lease!, reconcile!);
      if (found === null) return null;
      const tries = { final: reconcile!.final, made, allowed };
      const after = afterProbe(found.kind, tries);
      if (after === 'again' && !act.stop.asked) maybeBefore = false;
      else
        return this.#probed(act, endingOfProbe(after === 'again' ? 'not_applied' : after, found.result, made, spent()));
    }
  }

  #probed(act: Act, ending: Ending): Ending {
    return act.stop.asked ? { ...ending, cancellation: saidByProbe(ending.status) } : ending;
  }

  /** Looks until one answer is certain or the tries are over, under the call's lease. Null: the lease is lost. */
  async #findOut(act: Act, lease: Lease, reconcile: Reconcile): Promise<Probed | null> {
    const needed = reconcile.timeoutMs + this.#options.marginMs;
    for (let tries = 1; ; tries++) {
      if (!(await this.#options.leases.ensure(lease, Math.min(needed, lease.leaseMs / 2)))) return null;
      const probed = await this.#options.prober.probe(act.call, act.taken?.takenBack ?? null, lease.signal);
      if (lease.signal.aborted) return null;
      if (isCertain(probed.kind, reconcile.final) || tries >= reconcile.tries) return probed;
      const ms = quickPauseMs(reconcile, tries) * (0.5 + this.#options.random() / 2);
      await pause(ms, undefined, { signal: lease.signal }).catch(() => undefined);
    }
  }

  /** Between attempts; a call that is to stop waits no longer. */
  async #pause({ call, lease, stop }: Act, made: number, outcome: RunOutcome): Promise<void> {
    const asked = outcome.kind === 'failed' ? outcome.error.retryAfterMs : null;
    const ms = pauseBefore(made + 1, call.contract.retry, asked, this.#options.random());
    const wake = new AbortController();
    stop.whenAsked(() => wake.abort());
    const signal = lease ? AbortSignal.any([lease.signal, wake.signal]) : wake.signal;
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }

  async #attempt(act: Act, attempt: number): Promise<RunOutcome | null> {
    const { call, lease } = act;
    const { fences = null, takenBack = null } = act.taken ?? {};
    const needed = call.contract.timeoutMs + this.#options.marginMs;
    const { facts } = call.granted.data;
    for (;;) {
      if (lease && !(await this.#options.leases.ensure(lease, needed))) return null;
      faults.at?.('executor', 'before-send');
      let sending = false;
      let tooLate = false;
      const onSending = (): void => {
        tooLate = lease !== null && lease.remaining <= needed;
        if (tooLate) throw new Error('the lease does not outlast the timeout of the tool');
        if (act.stop.asked) throw new Error('the call was cancelled before it was sent');
        sending = true;
        faults.at?.('executor', 'sending');
      };
      const outcome = await this.#options.runner
        .run({
          contract: call.contract,
          digest: call.claims.contractDigest,
          arguments: call.granted.data.arguments,
          operationKey: sourceKey(call, takenBack),
          callId: call.callId,
          tenant: call.claims.tenant,
          attempt,
          signal: lease?.signal ?? NEVER,
          stop: act.stop,
          ...(fences ? { fence: fences } : {}),
          ...(facts ? { version: facts.values.resourceVersion } : {}),
          onSending,
          onLate: (late) => this.#options.onLate(call, late),
        })
        .catch((error: unknown) => this.#broken(call, error, sending));
      faults.at?.('executor', 'after-answer');
      if (lease?.signal.aborted) {
        this.#options.onLate(call, outcome);
        return null;
      }
      if (!tooLate) return outcome;
    }
  }

  /** A runner must not throw; if it does, nothing is assumed that was not seen. */
  #broken(call: PreparedCall, error: unknown, sending: boolean): RunOutcome {
    this.#options.log.error(
      { ...errorFields(error), callId: call.callId, tool: call.claims.tool },
      'the tool runner failed',
    );
    return {
      kind: 'failed',
      sent: sending ? 'maybe_sent' : 'not_sent',
      noEffect: !sending,
      error: executorError('INTERNAL'),
    };
  }

  async #ending(
    act: Act,
    outcome: RunOutcome,
    step: Exclude<NextStep, { kind: 'repeat' }>,
    attempts: number,
    durationMs: number,
  ): Promise<Ending> {
    const ending = await this.#plainEnding(act.call, outcome, step, attempts, durationMs);
    return act.stop.asked ? { ...ending, cancellation: saidOf(ending.status, act.call.write, outcome) } : ending;
  }

  async #plainEnding(
    call: PreparedCall,
    outcome: RunOutcome,
    step: NextStep,
    attempts: number,
    durationMs: number,
  ): Promise<Ending> {
    const base = { replayed: false, attempts, durationMs, error: null, result: null } as const;
    if (step.kind === 'unknown') return unknownEnding(attempts, durationMs, call.contract.reconcile !== undefined);
    if (step.kind === 'failed') return { ...base, status: 'failed', effect: 'none', error: step.error };
    const effect = call.write ? 'applied' : 'none';
    if (outcome.kind !== 'answered') throw new TypeError('only an answer succeeds');
    try {
      const about = { callId: call.callId, tool: call.claims.tool, tenant: call.claims.tenant };
      faults.at?.('executor', 'before-views');
      const result = await this.#options.views(call.contract, outcome.value, outcome.raw, about);
      faults.at?.('executor', 'after-views');
      return { ...base, status: 'succeeded', effect, result };
    } catch (error) {
      // A fault of the views does not undo the effect and must not provoke a repeat.
      this.#options.log.error(
        { ...errorFields(error), callId: call.callId, tool: call.claims.tool },
        'the views could not be made',
      );
      return { ...base, status: 'succeeded', effect, error: executorError('INVALID_RESULT') };
    }
  }
}
