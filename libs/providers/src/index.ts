export { argumentsText } from './model-text.ts';
export * from './openai-responses/openai-responses.adapter.ts';
export * from './provider.port.ts';
export * from './scripted/script.ts';
export * from './scripted/scripted-server.ts';
