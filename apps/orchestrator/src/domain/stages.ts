import type { Stage, ToolRef } from '#contracts';
import { isSettled } from './call-state.ts';
import { isOfModel } from './run-control.ts';
import { budgetsOf, withState, type Run } from './run-state.ts';

/**
 * Where a run with stages stands.
 *
 * T1 it stands in exactly one stage and only goes on to the next, at the request of a turn, when the stage's condition holds
 *    over the calls that the model proposed in it and that have settled; nothing else moves it (G1).
 * T2 a turn is offered the toolset of the stage in which it was asked; what it proposes outside of it is rejected here,
 *    before policy or a pool hears of it. What people propose is bound by the run's toolset alone.
 * T3 the place is part of the run's state, saved in the commit that asks for the turn: repeats and other replicas find it.
 */
export interface StagePlace {
  readonly index: number;
  /** The first batch that counts for it. */
  readonly batch: number;
}

const START: StagePlace = { index: 0, batch: 0 };

export function stageOf({ definition, state }: Run): Stage | undefined {
  return definition.stages?.[(state.stage ?? START).index];
}

/** 1 for the first. */
export const stageNo = ({ state }: Run): number => (state.stage ?? START).index + 1;

/** What may be called by who proposes in this batch. */
export function offeredTo(run: Run, byModel: boolean): readonly ToolRef[] {
  const stage = byModel ? stageOf(run) : undefined;
  if (!stage) return run.definition.toolset;
  return stage.toolChoice === 'none' ? [] : shownIn(stage, run.definition.toolset);
}

export const shownIn = (stage: Stage, toolset: readonly ToolRef[]): ToolRef[] =>
  toolset.filter(({ tool }) => stage.toolset.includes(tool));

/** Calls out at once. */
export const parallelOf = (run: Run): number =>
  Math.min(budgetsOf(run).maxParallel, stageOf(run)?.maxParallel ?? Infinity);

/** Before a turn is asked for: into the next stage, if the condition of this one holds. */
export function enterStage(run: Run): Run {
  const stage = stageOf(run);
  if (!stage?.advanceWhen || !holds(stage.advanceWhen, run)) return run;
  return withState(run, {
    stage: { index: (run.state.stage ?? START).index + 1, batch: run.state.batches.length },
  });
}

function holds(condition: NonNullable<Stage['advanceWhen']>, run: Run): boolean {
  const { batch } = run.state.stage ?? START;
  const succeeded = run.state.calls.filter(
    (call) =>
      call.batch >= batch &&
      call.factsFor === undefined &&
      isOfModel(run, call) &&
      isSettled(call) &&
      call.status === 'succeeded',
  );
  if ('calls' in condition) return succeeded.length >= condition.calls;
  const has = (tool: string): boolean => succeeded.some((call) => call.tool === tool);
  return 'all' in condition ? condition.all.every(has) : condition.any.some(has);
}
