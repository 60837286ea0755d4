import type { RunControl } from '#contracts';
import type { Call } from './call-state.ts';
import type { Run } from './run-state.ts';

export interface Control {
  readonly kind: 'paused' | 'taken_over';
  /** Id of the principal. */
  readonly by: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export interface Controlled {
  readonly commandId: string;
  readonly control: RunControl;
  readonly by: string;
  readonly reason: string | null;
  readonly episode: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface HandBack {
  readonly turn: number;
  /** What was proposed by people from this batch on. */
  readonly batch: number;
  readonly by: string;
  readonly reason: string | null;
}

/** The person who drives the run now. */
export const takenOverBy = ({ state: { control } }: Run): string | undefined =>
  control?.kind === 'taken_over' ? control.by : undefined;
/** Is it the model's? Its results then go back to the model. */
export const isOfModel = ({ definition, state }: Run, { batch }: Pick<Call, 'batch'>): boolean =>
  definition.driver === 'agent' && state.batches[batch]?.by === undefined;
