import diagnostics from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';
import { IMPORT_CHANNEL, type ImportNews } from '#kernel';

/**
 * Ends a process that an endless loop in an imported module keeps busy: no timer of its own thread would fire.
 * While a module is imported this thread beats, and a second thread kills the process when the beat stays away for as much
 * of its processor time: a process that gets none, because the machine is busy or it was stopped, is not endless.
 */
const ACTIVE = 0;
const BEAT = 1;
const LENGTH = 2;
const HEADER_INTS = 3;
const NAME_BYTES = 4_096;
/** Twice what an endless await is given: that one is told as such. */
const LIMIT_MS = 20_000;
const BEATS_PER_LIMIT = 4;

/** For the process of a service. @param limitMs processor time without a beat after which the process is killed (exit code 137) */
export function watchImports(limitMs: number = LIMIT_MS): void {
  let watch: ImportWatch | undefined;
  diagnostics.subscribe(IMPORT_CHANNEL, (message) => {
    const { file, state } = message as ImportNews;
    watch ??= createWatch(limitMs);
    if (state === 'begun') watch.begin(file);
    else watch.end();
  });
}

interface ImportWatch {
  begin(file: string): void;
  end(): void;
}

function createWatch(limitMs: number): ImportWatch {
  const shared = new SharedArrayBuffer(HEADER_INTS * Int32Array.BYTES_PER_ELEMENT + NAME_BYTES);
  const header = new Int32Array(shared, 0, HEADER_INTS);
  const name = Buffer.from(shared, header.byteLength);
  const worker = new Worker(SOURCE, { eval: true, workerData: { shared, limitMs } });
  worker.unref();
  worker.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  const bump = (place: number, by: number): number => {
    const before = Atomics.add(header, place, by);
    Atomics.notify(header, place);
    return before + by;
  };
  return {
    begin(file) {
      header[LENGTH] = name.write(file);
      bump(BEAT, 1);
      if (bump(ACTIVE, 1) === 1) timer = setInterval(() => bump(BEAT, 1), limitMs / BEATS_PER_LIMIT);
    },
    end() {
      bump(BEAT, 1);
      if (bump(ACTIVE, -1) === 0) clearInterval(timer);
    },
  };
}

const SOURCE = `
const { writeSync } = require('node:fs');
const { workerData: { shared, limitMs } } = require('node:worker_threads');
const header = new Int32Array(shared, 0, ${HEADER_INTS});
for (;;) {
  const beat = Atomics.load(header, ${BEAT});
  const since = process.cpuUsage();
  if (Atomics.load(header, ${ACTIVE}) === 0) Atomics.wait(header, ${ACTIVE}, 0);
  else {
    let usedMs = 0;
    while (usedMs < limitMs && Atomics.wait(header, ${BEAT}, beat, Math.ceil(limitMs - usedMs)) === 'timed-out') {
      const { user, system } = process.cpuUsage(since);
      usedMs = (user + system) / 1000;
    }
    if (usedMs < limitMs) continue;
    const file = Buffer.from(shared, header.byteLength, Atomics.load(header, ${LENGTH})).toString();
    writeSync(2, file + ': its import has kept the process busy for ' + limitMs / 1000 +
      ' s; remove the endless loop at its top level, or do that work in the handler\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}
`;
