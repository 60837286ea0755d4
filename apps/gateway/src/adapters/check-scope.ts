import type { Caller } from '../domain/caller.ts';
import { outsideScope } from '../domain/problem.ts';
import { mayUse } from '../domain/tool-scope.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';

/**
 * Names as they were asked for, against what the credential covers.
 * @param pointer where the nth name stands in the request
 * @throws HttpProblem 403 for the first one that it does not cover
 */
export async function checkScope(
  tools: ToolCatalogue,
  caller: Caller,
  names: readonly string[],
  pointer: (index: number) => string,
): Promise<void> {
  if (!caller.scope?.tools) return;
  for (const [index, name] of names.entries()) {
    const ref = await tools.resolve(caller.tenant, name);
    if (!mayUse(caller, ref?.tool ?? name)) throw outsideScope(pointer(index), name);
  }
}
