import type { Run, RunDefinition, RunState } from '../domain/run-state.ts';

export interface RunRow {
  readonly run_id: string;
  readonly run_no: number;
  readonly definition: RunDefinition;
  readonly state: RunState;
}

export const RUN_COLUMNS = 'run_id, run_no, definition, state';

export const runOfRow = (row: RunRow): Run => ({ definition: row.definition, state: row.state, runNo: row.run_no });

/** Epoch milliseconds → what `to_timestamp` takes. */
export const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
