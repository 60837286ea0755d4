import { end, type ProcessRecord, signal } from './processes.ts';
import type { StartedPart } from './part.ts';

export interface NativeProcess {
  readonly address: string;
  /** How long it may take to end before it is forced, in ms. */
  readonly graceMs: number;
  /** Starts it and waits until it answers. */
  launch(): Promise<ProcessRecord>;
}

/** A part of the stack that is one process of ours. */
export async function startNativeProcess({ address, graceMs, launch }: NativeProcess): Promise<StartedPart> {
  let record = await launch();
  const stop = (): Promise<void> => end(record, 'SIGTERM', graceMs);
  return {
    address,
    get pid() {
      return record.pid;
    },
    get record() {
      return { kind: 'process' as const, address, process: record };
    },
    stop,
    kill: async () => {
      signal(record, 'SIGKILL');
      await end(record, 'SIGKILL', graceMs);
    },
    restart: async () => {
      await stop();
      record = await launch();
    },
  };
}
