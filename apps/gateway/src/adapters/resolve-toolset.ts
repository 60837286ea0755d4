import type { ToolRef } from '#contracts';
import { CountersignError, type ErrorDetail } from '#kernel';
import type { ToolCatalogue } from './tool-catalogue.ts';

/** Tools of one run. */
const MAX_TOOLSET = 1_000;

/**
 * Names → versions with their digests, as they are live now; the run keeps them. Without names: all live tools.
 * @throws CountersignError UNKNOWN_TOOL with a pointer to each name that is not published
 */
export async function resolveToolset(
  tools: ToolCatalogue,
  tenant: string,
  names: readonly string[] | undefined,
): Promise<ToolRef[]> {
  if (names === undefined) return tools.refs(tenant, MAX_TOOLSET);
  const found = await Promise.all(names.map((name) => tools.resolve(tenant, name)));
  const details: ErrorDetail[] = names.flatMap((name, index) =>
    found[index]
      ? []
      : [{ path: `/toolset/${index}`, rule: 'known', message: `no tool ${JSON.stringify(name)} is published` }],
  );
  if (details.length > 0)
    throw new CountersignError('UNKNOWN_TOOL', details.map((d) => d.message).join('; '), { details });
  return [...new Map(found.map((ref) => [ref!.tool, ref!])).values()];
}

/** The tools that contracts of a toolset name for their undo and their facts, as they are live now; one that is not published is left out. */
export async function resolveUndoTools(
  tools: ToolCatalogue,
  tenant: string,
  toolset: readonly ToolRef[],
): Promise<ToolRef[]> {
  const names = await tools.undoNames(tenant, toolset);
  if (names.length === 0) return [];
  const found = await Promise.all(names.map((name) => tools.resolve(tenant, name)));
  return [...new Map(found.filter((ref) => ref !== null).map((ref) => [ref.tool, ref])).values()];
}
