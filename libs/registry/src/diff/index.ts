export * from './diff-contracts.ts';
export type { ToolChange, ToolDiff } from './tool-change.ts';
