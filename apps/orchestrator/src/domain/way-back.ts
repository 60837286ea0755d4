import type { CallSettled, RemainderReason, ToolContract, ToolRef, UndoMapping } from '#contracts';
import { valueAt } from '#kernel';
import { resolveTool } from './resolve-tool.ts';

/** How a call would be taken back, as its contract says; found out when the call is admitted. */
export type UndoPlan =
  | {
      readonly tool: string;
      /** null: the undo tool was not published when the run began. */
      readonly digest: string | null;
      readonly arguments: UndoMapping['arguments'];
    }
  | { readonly pivot: true };

/**
 * What is kept of a call that has, or may have, changed something and can be taken back: the undo's arguments and nothing
 * else of its result.
 *
 * | from     | by                                               | to       |
 * |----------|--------------------------------------------------|----------|
 * | kept     | the run's way back begins                        | waiting  |
 * | waiting  | its turn: the undo is proposed                   | out      |
 * | waiting  | no turn: blocked, cancelled, or no undo to make  | left     |
 * | out      | the undo succeeded                               | undone   |
 * | out      | it failed, is unknown, or nobody answers         | left     |
 * | left     | a person: retry                                  | waiting  |
 * | left     | a person: skip · done                            | skipped · undone |
 * | any      | a late success of an undo                        | undone   |
 */
export interface WayBack {
  readonly tool: string;
  readonly digest: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Arguments that only the result can give, which is not known yet: name → pointer. */
  readonly pending?: Readonly<Record<string, string>> | undefined;
  /** Why no undo can be made. */
  readonly fault?: string | undefined;
  readonly contractDigest: string;
  readonly resources: readonly string[];
  /** Earlier calls that it depends on, or whose made ids it was given: they are undone after it. */
  readonly after: readonly string[];
  readonly state: 'kept' | 'waiting' | 'out' | 'undone' | 'skipped' | 'left';
  readonly reason?: RemainderReason | undefined;
  /** The undo that was made last. */
  readonly undoCallId?: string | undefined;
  readonly tries: number;
}

export function undoPlan(
  { compensation }: Pick<ToolContract, 'compensation'>,
  undoTools: readonly ToolRef[],
): UndoPlan | undefined {
  if (compensation === undefined || 'pivot' in compensation) return compensation;
  const { tool, arguments: mapping } = compensation;
  const ref = resolveTool(tool, undoTools);
  return { tool: ref?.tool ?? tool, digest: ref?.digest ?? null, arguments: mapping };
}

export interface Undoable {
  readonly plan: Exclude<UndoPlan, { pivot: true }>;
  readonly contractDigest: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly resources: readonly string[];
  /** Earlier calls of the run with the ids that they made. */
  readonly made: readonly { readonly callId: string; readonly resourceIds: readonly string[] }[];
  readonly dependsOn?: readonly string[] | undefined;
}

/** undefined: the call changed nothing, or only told what an earlier call of its key had done. */
export function wayBackOf(call: Undoable, { status, effect, replayed, result }: CallSettled): WayBack | undefined {
  const applied = status === 'succeeded' && effect === 'applied' && !replayed;
  if (!applied && (status !== 'outcome_unknown' || replayed)) return undefined;
  const { plan, contractDigest, resources } = call;
  const text = JSON.stringify(call.arguments);
  const known: Record<string, unknown> = {};
  const pending: Record<string, string> = {};
  for (const [name, source] of Object.entries(plan.arguments)) {
    if ('value' in source) known[name] = source.value;
    else if ('result' in source) pending[name] = source.result;
    else {
      const value = valueAt(call.arguments, source.argument);
      // What was left out is left out of the undo too: its own schema judges.
      if (value !== undefined) known[name] = value;
    }
  }
  const way: WayBack = {
    tool: plan.tool,
    digest: plan.digest,
    arguments: known,
    ...(Object.keys(pending).length === 0 ? {} : { pending }),
    contractDigest,
    resources,
    after: call.made
      .filter(
        ({ callId, resourceIds }) =>
          call.dependsOn?.includes(callId) === true || resourceIds.some((id) => text.includes(JSON.stringify(id))),
      )
      .map(({ callId }) => callId),
    state: 'kept',
    tries: 0,
  };
  return applied ? withResult(way, result?.sanitized) : way;
}

/** Fills in what only the result can give. */
export function withResult(way: WayBack, sanitized: unknown): WayBack {
  if (way.pending === undefined) return way;
  const found = Object.entries(way.pending).map(([name, pointer]) => ({
    name,
    pointer,
    value: valueAt(sanitized, pointer),
  }));
  const missing = found.filter(({ value }) => value === undefined);
  const values = found.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value] as const);
  return {
    ...way,
    arguments: { ...way.arguments, ...Object.fromEntries(values) },
    pending: undefined,
    ...(missing.length === 0
      ? {}
      : {
          fault: `the result holds nothing at ${missing.map(({ name, pointer }) => `${pointer} (for ${name})`).join(', ')}`,
        }),
  };
}
