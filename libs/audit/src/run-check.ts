import { callsDigest } from '#contracts';
import type { AuditRecordText } from './audit-record.ts';
import type { FaultList } from './audit-report.ts';

interface Place {
  readonly ledger: string;
  readonly sequence: number;
}

interface RunEnd extends Place {
  readonly episode: number;
  readonly count: number;
  readonly digest: string;
}

type Missing = readonly [kind: 'incomplete' | 'duplicate', at: Place, detail: string];

interface RunSeen {
  started: boolean;
  runNo: number | null;
  /** The end with the highest episode, and where it is recorded. */
  end: RunEnd | null;
  /** The highest episode that began after an end. */
  resumed: number;
  /** Call ids of terminal records. */
  readonly calls: string[];
}

/** The end of the episode that is the newest; null while the run goes on. */
const endOf = (run: RunSeen | undefined): RunSeen['end'] =>
  run?.end && run.end.episode >= run.resumed ? run.end : null;

const RUN_STARTED = 'dev.countersign.run.started.v1';
const RUN_RESUMED = 'dev.countersign.run.resumed.v1';
/** A way back may take an end back: its undos are calls of the run, which the next end counts. */
const COMPENSATION_STARTED = 'dev.countersign.compensation.started.v1';
const RUN_ENDED = 'dev.countersign.run.ended.v1';
const CALL_SETTLED = 'dev.countersign.call.settled.v1';

const COUNTED = new Set([RUN_STARTED, RUN_RESUMED, COMPENSATION_STARTED, RUN_ENDED, CALL_SETTLED]);

/**
 * Completeness of a tenant's ledgers together: what no chain can show, a record that was never written.
 *
 * R1 run numbers are dense from 1; R2 the last end of a run counts and digests its calls, and each of them has exactly one
 * terminal record; R3 a run that has not ended is open, not faulty.
 */
export class RunCheck {
  readonly #tenant: Place;
  readonly #faults: FaultList;
  readonly #runs = new Map<string, RunSeen>();
  #calls = 0;

  constructor(tenant: string, faults: FaultList) {
    this.#tenant = { ledger: tenant, sequence: 0 };
    this.#faults = faults;
  }

  get runs(): number {
    return this.#runs.size;
  }

  get calls(): number {
    return this.#calls;
  }

  get openRuns(): number {
    return [...this.#runs.values()].filter((run) => endOf(run) === null).length;
  }

  add({ ledger, type, sequence, data }: AuditRecordText): void {
    if (!COUNTED.has(type)) return;
    const { run_id: runId, call_id: callId } = data;
    if (typeof runId !== 'string') {
      this.#faults.add('unreadable', ledger, sequence, 'the record names no run');
      return;
    }
    const run = this.#run(runId);
    if (type === RUN_STARTED) {
      run.started = true;
      run.runNo = typeof data.run_no === 'number' ? data.run_no : null;
    } else if (type === RUN_RESUMED || type === COMPENSATION_STARTED) {
      run.resumed = Math.max(run.resumed, Number(data.episode));
    } else if (type === CALL_SETTLED) {
      run.calls.push(String(callId));
      this.#calls++;
    } else {
      const end = {
        ledger,
        sequence,
        episode: Number(data.episode),
        count: Number(data.call_count),
        digest: String(data.calls_digest),
      };
      if (run.end === null || end.episode > run.end.episode) run.end = end;
    }
  }

  /** Whether every end has its calls, every number is there, and each of `runIds` has ended. */
  isComplete(runIds: readonly string[]): boolean {
    return this.#missing(runIds).next().done === true;
  }

  conclude(runIds: readonly string[]): void {
    for (const [kind, { ledger, sequence }, detail] of this.#missing(runIds))
      this.#faults.add(kind, ledger, sequence, detail);
  }

  *#missing(runIds: readonly string[]): Generator<Missing> {
    yield* this.#numbers();
    for (const [runId, run] of this.#runs) {
      const { calls } = run;
      const end = endOf(run);
      const single = new Set(calls);
      if (single.size !== calls.length) {
        const twice = calls.find((callId, at) => calls.indexOf(callId) !== at)!;
        yield ['duplicate', this.#tenant, `the call ${twice} has more than one terminal record`];
      }
      if (end === null) continue;
      if (!run.started) yield ['incomplete', end, `the start of the run ${runId} is missing`];
      if (single.size !== end.count || callsDigest([...single]) !== end.digest) {
        yield [
          'incomplete',
          end,
          `the run ${runId} ended with ${end.count} calls; the terminal records of ${single.size} are here, ` +
            (single.size === end.count ? 'of other calls' : 'not the same'),
        ];
      }
    }
    for (const runId of runIds)
      if (endOf(this.#runs.get(runId)) === null)
        yield ['incomplete', this.#tenant, `the end of the run ${runId} is missing`];
  }

  /** Numbers are given by the orchestrator; one that is not there was a run whose start was never recorded. */
  *#numbers(): Generator<Missing> {
    const numbered = [...this.#runs].flatMap(([runId, { runNo }]) => (runNo === null ? [] : [{ runId, runNo }]));
    numbered.sort((a, b) => a.runNo - b.runNo);
    const unnumbered = [...this.#runs].filter(([, run]) => !run.started).map(([runId]) => runId);
    let last = { runId: '', runNo: 0 };
    for (const run of numbered) {
      const missing = run.runNo - last.runNo - 1;
      if (missing === -1) yield ['duplicate', this.#tenant, `two runs have the number ${run.runNo}`];
      if (missing > 0) {
        const which =
          missing === 1
            ? `the start of run number ${last.runNo + 1} is missing`
            : `the starts of run numbers ${last.runNo + 1} to ${run.runNo - 1} are missing`;
        const between =
          last.runId === '' ? `before the run ${run.runId}` : `between the runs ${last.runId} and ${run.runId}`;
        const known = unnumbered.length === 0 ? '' : `; without a start are: ${unnumbered.slice(0, 5).join(', ')}`;
        yield ['incomplete', this.#tenant, `${which}, ${between}${known}`];
      }
      last = run;
    }
  }

  #run(runId: string): RunSeen {
    let run = this.#runs.get(runId);
    if (!run) this.#runs.set(runId, (run = { started: false, runNo: null, end: null, resumed: 0, calls: [] }));
    return run;
  }
}
