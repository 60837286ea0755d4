import { InvalidArgumentError } from 'commander';

const TOOL = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*(@\d+\.\d+\.\d+)?$/;

export function toolName(text: string): string {
  if (!TOOL.test(text)) throw new InvalidArgumentError('Give ns.name, or ns.name@1.2.3.');
  return text;
}

export function toolVersion(text: string): string {
  if (!toolName(text).includes('@')) throw new InvalidArgumentError('Give ns.name@1.2.3.');
  return text;
}

export const addressOf = (name: string, rest = ''): string => `/v1/tools/${encodeURIComponent(name)}${rest}`;
