import type { Stages } from '#contracts';
import { resolveToolset } from './resolve-toolset.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';

/**
 * The stages of an agent, with the versions that are live now in the place of names.
 * @throws CountersignError UNKNOWN_TOOL
 */
export async function resolveStages(
  tools: ToolCatalogue,
  tenant: string,
  stages: Stages | undefined,
): Promise<Stages | undefined> {
  if (!stages) return undefined;
  const names = [...new Set(stages.flatMap(({ toolset }) => toolset))];
  const versions = new Map<string, string>();
  for (const name of names) versions.set(name, (await resolveToolset(tools, tenant, [name]))[0]!.tool);
  const inVersions = (written: readonly string[]): string[] => written.map((name) => versions.get(name)!);
  return stages.map(({ advanceWhen, ...stage }) => ({
    ...stage,
    toolset: inVersions(stage.toolset),
    ...(advanceWhen === undefined ? {} : { advanceWhen: conditionIn(advanceWhen, inVersions) }),
  }));
}

type Condition = NonNullable<Stages[number]['advanceWhen']>;

function conditionIn(condition: Condition, inVersions: (names: readonly string[]) => string[]): Condition {
  if ('all' in condition) return { all: inVersions(condition.all) };
  return 'any' in condition ? { any: inVersions(condition.any) } : condition;
}
