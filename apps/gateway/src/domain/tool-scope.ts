import type { Caller } from './caller.ts';

/** `ns.name`, `ns.*` or `*`. */
export const TOOL_PATTERN = /^(\*|[a-z][a-z0-9_]*\.(\*|[a-z][a-z0-9_]*))$/;

/** Does the credential cover the tool `ns.name`, of any version? One without tools in its scope covers all that policy lets it use. */
export function mayUse({ scope }: Caller, tool: string): boolean {
  if (!scope?.tools) return true;
  const name = tool.replace(/@.*$/s, '');
  return scope.tools.some((pattern) =>
    pattern === '*' ? true : pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}
