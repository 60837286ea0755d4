import { InfrastructureError } from '#kernel';
import type { Reads } from '#runtime';
import type { RunProgress } from '../domain/run-progress.ts';
import { progressOfStored, type StoredProgress } from '../domain/stored-progress.ts';
import { isEnded, type View } from '../domain/views.ts';

/** How far a run has come, as the state store has it. */
export class RunProgressReader {
  readonly #reads: Reads;

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  /** @throws InfrastructureError when the state store is away */
  async stored(tenant: string, runId: string): Promise<RunProgress> {
    return progressOfStored(
      await this.#reads.read<StoredProgress | null>('state-store', 'progress', { tenant, runId }),
    );
  }

  /** The same; but an end that the orchestrator knows to be over by a resume, and the views do not yet, is not one. */
  async first(tenant: string, runId: string): Promise<RunProgress> {
    const stored = await this.stored(tenant, runId);
    if (stored.phase === 0 || stored.phase % 2 === 1) return stored;
    const run = await this.#reads
      .read<View | null>('orchestrator', 'run', { tenant, runId })
      .catch((error: unknown) => {
        if (error instanceof InfrastructureError) return null;
        throw error;
      });
    return run && !isEnded(run) ? { ...stored, phase: stored.phase + 1 } : stored;
  }
}
