import { defineTool, type DefinedTool, type Handler, type ToolInput } from '#tools';

type Changes = Partial<ToolInput<Record<string, unknown>>>;

const COMMON = {
  namespace: 'probe',
  version: '1.0.0',
  title: 'Probe',
  description: 'A tool for tests.',
  whenToUse: 'In tests.',
  whenNotToUse: 'Elsewhere.',
  input: { type: 'object' },
  output: {},
  approval: { mode: 'never' },
  execution: { kind: 'local' },
} as const;

export function sampleRead(changes: Changes = {}, handler?: Handler): DefinedTool {
  return defineTool(
    { ...COMMON, name: 'look', layer: 'read', sideEffects: 'none', ...changes } as ToolInput<Record<string, unknown>>,
    handler,
  );
}

export function sampleWrite(changes: Changes = {}, handler?: Handler): DefinedTool {
  const rest = {
    name: 'make',
    layer: 'write',
    sideEffects: 'reversible',
    noUndoReason: 'a test',
    idempotency: { mode: 'none' },
    ...changes,
  };
  return defineTool({ ...COMMON, ...rest } as ToolInput<Record<string, unknown>>, handler);
}
