import type { CallFacts, FactsOfContract, ToolContract, ToolRef } from '#contracts';
import { resolveTool } from './resolve-tool.ts';

/** How the facts of a call are read, as its contract says; found out when the call is admitted. */
export interface FactPlan {
  readonly tool: string;
  /** null: the read was not published when the run began. */
  readonly digest: string | null;
  readonly arguments: FactsOfContract['arguments'];
  readonly values: FactsOfContract['values'];
}

export type FactsRead =
  { readonly ok: true; readonly facts: CallFacts } | { readonly ok: false; readonly missing: readonly string[] };

export function factPlan({ facts }: ToolContract, tools: readonly ToolRef[]): FactPlan | undefined {
  if (facts === undefined) return undefined;
  const ref = resolveTool(facts.tool, tools);
  const { arguments: mapping, values } = facts;
  return { tool: ref?.tool ?? facts.tool, digest: ref?.digest ?? null, arguments: mapping, values };
}
