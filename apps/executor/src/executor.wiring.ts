import { randomBytes } from 'node:crypto';
import type { ToolContract } from '#contracts';
import type { GrantClaims } from '#grants';
import type { QuarantineList } from '#registry';
import type { ServiceContext, ServiceParts } from '#runtime';
import { JournalRepository } from './adapters/journal.repository.ts';
import { ReconciliationRepository } from './adapters/reconciliation.repository.ts';
import type { ToolRunner, ViewMaker } from './domain/tool-runner.port.ts';
import type { executorSettings } from './executor.config.ts';
import { executorConsumers } from './executor.handlers.ts';
import { Admission } from './work/admission.ts';
import { CallDesk } from './work/call-desk.ts';
import { CancelDesk } from './work/cancel-desk.ts';
import { CallEngine } from './work/call-engine.ts';
import { GrantGate } from './work/grant-gate.ts';
import { LateAnswers } from './work/late-answers.ts';
import { LeaseKeeper } from './work/lease-keeper.ts';
import { OutcomeWriter } from './work/outcome-writer.ts';
import { Prober } from './work/prober.ts';
import { Reconciler } from './work/reconciler.ts';
import { HandClosings } from './work/hand-closings.ts';
import { Resolutions } from './work/resolutions.ts';
import { retention } from './work/retention.ts';
import { Sweeper } from './work/sweeper.ts';

/** What the executor needs of other libraries; the door gives the real ones, tests their own. */
export interface ExecutorTools {
  /** @throws CountersignError GRANT_INVALID, InfrastructureError (policy is away) */
  readonly verify: (token: string) => Promise<GrantClaims>;
  readonly contracts: { byDigest(digest: string): Promise<ToolContract> };
  readonly quarantine: QuarantineList;
  readonly runner: ToolRunner;
  readonly views: ViewMaker;
}

export function wireExecutor(context: ServiceContext<typeof executorSettings>, tools: ExecutorTools): ServiceParts {
  const { settings, database, outbox, locks, clock, log, instance } = context;
  const pool = settings.COUNTERSIGN_POOL;
  const marginMs = settings.COUNTERSIGN_LEASE_MARGIN_MS;
  const leaseMs = settings.COUNTERSIGN_LEASE_MS;
  // A restarted process is another owner: it must not take its predecessor's leases for its own.
  const owner = `${instance}/${randomBytes(6).toString('hex')}`;

  const journal = new JournalRepository(database, outbox, owner);
  const findings = new ReconciliationRepository({ database, outbox, clock, pool });
  const prober = new Prober({ runner: tools.runner, views: tools.views, log });
  const late = new LateAnswers({ findings, views: tools.views, log });
  const leases = new LeaseKeeper({
    journal,
    log,
    onStop: (callId) => desk.stop(callId),
    everyMs: Math.max(20, Math.floor(leaseMs / 6)),
  });
  const writer = new OutcomeWriter({
    journal,
    pool,
    clock,
    log,
    onLate: (call, ending) => late.takeEnding(call, ending),
  });
  const engine = new CallEngine({
    runner: tools.runner,
    views: tools.views,
    leases,
    log,
    marginMs,
    random: Math.random,
    prober,
    onLate: (call, outcome) => late.take(call, outcome),
  });
  const { verify, contracts, quarantine } = tools;
  const gate = new GrantGate({ pool, rules: { leaseMs, marginMs }, verify, contracts, quarantine });
  const desk: CallDesk = new CallDesk({
    journal,
    leases,
    engine,
    writer,
    locks,
    clock,
    log,
    pool,
    owner,
    waitMs: settings.COUNTERSIGN_LOCK_WAIT_MS,
    parallel: settings.COUNTERSIGN_EXECUTOR_PARALLEL,
    graceMs: settings.COUNTERSIGN_CANCEL_GRACE_MS,
    drainMs: settings.COUNTERSIGN_EXECUTOR_DRAIN_MS,
  });
  const admission = new Admission({ gate, journal, desk, leases, locks, clock, log, pool });
  const sweeper = new Sweeper({
    journal,
    gate,
    desk,
    leases,
    writer,
    clock,
    log,
    pool,
    everyMs: settings.COUNTERSIGN_SWEEP_MS,
  });
  const reconciler = new Reconciler({
    findings,
    gate,
    prober,
    log,
    everyMs: settings.COUNTERSIGN_RECONCILE_MS,
    alarmMs: settings.COUNTERSIGN_UNKNOWN_ALARM_MS,
  });
  const resolutions = new Resolutions({
    findings,
    contracts: tools.contracts,
    views: tools.views,
    log,
    clock,
    pool,
    fourEyes: settings.COUNTERSIGN_RESOLVE_FOUR_EYES,
  });
  const keepMs = settings.COUNTERSIGN_PAYLOAD_RETENTION_MS;
  return {
    consumers: executorConsumers(pool, {
      admission,
      cancels: new CancelDesk({ journal, desk, writer, clock, log, pool }),
      resolutions,
      closings: new HandClosings({ findings, log }),
    }),
    reads: { unknowns: () => findings.count() },
    // Drained in this order: leases are renewed until the last call is done.
    workers: [sweeper, reconciler, retention({ journal, log, pool, keepMs }), desk, leases],
  };
}
