import { callsDigest } from '#contracts';
import type { AuditRecordText } from './audit-record.ts';
import type { FaultList } from './audit-report.ts';

interface RunSeen {
  started: boolean;
  runNo: number | null;
  /** The end with the highest episode. */
  end: { readonly sequence: number; readonly episode: number; readonly count: number; readonly digest: string } | null;
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
 * Completeness of one ledger: what no chain can show, a record that was never written.
 *
 * R1 run numbers are dense from 1; R2 the last end of a run counts and digests its calls, and each of them has exactly one
 * terminal record; R3 a run that has not ended is open, not faulty.
 */
export class RunCheck {
  readonly #ledger: string;
  readonly #faults: FaultList;
  readonly #runs = new Map<string, RunSeen>();
  #calls = 0;

  constructor(ledger: string, faults: FaultList) {
    this.#ledger = ledger;
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

  add({ type, sequence, data }: AuditRecordText): void {
    if (!COUNTED.has(type)) return;
    const { run_id: runId, call_id: callId } = data;
    if (typeof runId !== 'string') {
      this.#fault('unreadable', sequence, 'the record names no run');
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
    for (const [kind, sequence, detail] of this.#missing(runIds)) this.#fault(kind, sequence, detail);
  }

  *#missing(runIds: readonly string[]): Generator<['incomplete' | 'duplicate', number, string]> {
    yield* this.#numbers();
    for (const [runId, run] of this.#runs) {
      const { calls } = run;
      const end = endOf(run);
      const single = new Set(calls);
      if (single.size !== calls.length) {
        const twice = calls.find((callId, at) => calls.indexOf(callId) !== at)!;
        yield ['duplicate', 0, `the call ${twice} has more than one terminal record`];
      }
      if (end === null) continue;
      if (!run.started) yield ['incomplete', end.sequence, `the start of the run ${runId} is missing`];
      if (single.size !== end.count || callsDigest([...single]) !== end.digest) {
        yield [
          'incomplete',
          end.sequence,
          `the run ${runId} ended with ${end.count} calls; the terminal records of ${single.size} are here, ` +
            (single.size === end.count ? 'of other calls' : 'not the same'),
        ];
      }
    }
    for (const runId of runIds)
      if (endOf(this.#runs.get(runId)) === null) yield ['incomplete', 0, `the end of the run ${runId} is missing`];
  }

  *#numbers(): Generator<['incomplete' | 'duplicate', number, string]> {
    const numbers = [...this.#runs.values()]
      .map((run) => run.runNo)
      .filter((number) => number !== null)
      .sort((a, b) => a - b);
    let last = 0;
    for (const number of numbers) {
      if (number === last) yield ['duplicate', 0, `two runs have the number ${number}`];
      if (number === last + 2) yield ['incomplete', 0, `the start of run number ${last + 1} is missing`];
      if (number > last + 2)
        yield ['incomplete', 0, `the starts of run numbers ${last + 1} to ${number - 1} are missing`];
      last = number;
    }
  }

  #run(runId: string): RunSeen {
    let run = this.#runs.get(runId);
    if (!run) this.#runs.set(runId, (run = { started: false, runNo: null, end: null, resumed: 0, calls: [] }));
    return run;
  }

  #fault(kind: Parameters<FaultList['add']>[0], sequence: number, detail: string): void {
    this.#faults.add(kind, this.#ledger, sequence, detail);
  }
}
