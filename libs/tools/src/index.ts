export * from './call-error.ts';
export {
  defineContract,
  defineTool,
  isDefinedTool,
  type DefinedTool,
  type TypedProbe,
  type ToolInput,
  type TypedHandler,
} from './define-tool.ts';
export { createRunner, secretValues, type RunnerOptions } from './runners/create-runner.ts';
export { failureText, plainText } from './runners/failure-text.ts';
export { neededEnv } from './runners/http-request.ts';
export type { Handler, HandlerContext } from './runners/local.runner.ts';
export type { Probe, ProbeAnswer, ProbeContext } from './runners/probe.runner.ts';
export { toPlainJson } from './runners/plain-json.ts';
export * from './runners/runner.port.ts';
export { ToolFailure, type ToolFailureOptions } from './tool-failure.ts';
export { labelledJson } from './views/label.view.ts';
export { makeViews, type ViewContext } from './views/make-views.ts';
export { redactSecrets } from './views/secret-patterns.ts';
export { agentDefinitionSchema, type AgentDefinition } from './workspace/agent.schema.ts';
export { loadWorkspace, type PolicyFile, type Workspace } from './workspace/load-workspace.ts';
