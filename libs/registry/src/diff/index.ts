export * from './diff-contracts.ts';
export { CHANGE_KINDS, type ChangeKind, type ToolChange, type ToolDiff } from './tool-change.ts';
