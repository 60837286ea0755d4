/** The namespace of a tool's name; null when it has none. */
export const namespaceOf = (tool: string): string | null => /^([a-z][a-z0-9_]*?)(?:\.|__)/.exec(tool)?.[1] ?? null;
