import { isRead, toolName, type ToolContract } from '#contracts';
import { digestText, pointerStep, type ErrorCode, type ErrorDetail } from '#kernel';
import { renderTemplate } from './render-template.ts';

const MAX_KEY_LENGTH = 1024;

export type Named<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: readonly ErrorDetail[];
    };

/**
 * What a call touches: canonical, sorted, each once. An optional argument that a template needs and that is absent is
 * INVALID_ARGS: a resource that cannot be named could be neither locked nor judged.
 */
export function nameResources(
  { resources: templates, resourceForms = {} }: Pick<ToolContract, 'resources' | 'resourceForms'>,
  args: Readonly<Record<string, unknown>>,
): Named<string[]> {
  const resources = new Set<string>();
  for (const template of templates) {
    const rendered = renderTemplate(template, (name) => ({
      path: pointerStep(name),
      value: args[name],
      form: resourceForms[name],
    }));
    if (!rendered.ok) {
      return {
        ok: false,
        code: 'INVALID_ARGS',
        message: 'The arguments do not name what the call touches',
        details: [rendered.detail],
      };
    }
    for (const text of rendered.texts) resources.add(text);
  }
  return { ok: true, value: [...resources].sort() };
}

export interface KeyScope {
  readonly tenant: string;
  readonly principalId: string;
  readonly callId: string;
  readonly taskId?: string | undefined;
}

/**
 * The stable business key of an effect: `<tenant>/<principal>/<rendered template>`; the callId for reads and for tools
 * without a key of their own (G7).
 */
export function nameOperation(
  contract: ToolContract,
  args: Readonly<Record<string, unknown>>,
  scope: KeyScope,
): Named<string> {
  if (isRead(contract) || contract.idempotency.mode !== 'key') return { ok: true, value: scope.callId };
  const rendered = renderTemplate(contract.idempotency.template, (place) => {
    if (place === 'task') return { path: '/taskId', value: scope.taskId };
    if (place === 'tool') return { path: '', value: toolName(contract) };
    if (!place.startsWith('arg:')) return { path: '', value: undefined };
    const value = args[place.slice('arg:'.length)];
    // A list is one value of a key, unlike in resources, where it names several things.
    return {
      path: pointerStep(place.slice('arg:'.length)),
      value: Array.isArray(value) ? JSON.stringify(value) : value,
    };
  });
  if (!rendered.ok) {
    const { path } = rendered.detail;
    const missing = path === '/taskId' && scope.taskId === undefined;
    const message = missing
      ? 'The tool needs a taskId: give the run a business key'
      : 'The operation key cannot be made';
    return { ok: false, code: 'IDEMPOTENCY_REQUIRED', message, details: [rendered.detail] };
  }
  const prefix = `${scope.tenant}/${scope.principalId.replace(/[%/]/g, encodeURIComponent)}/`;
  const own = rendered.texts[0]!;
  return {
    ok: true,
    value: prefix.length + own.length <= MAX_KEY_LENGTH ? prefix + own : prefix + digestText('operation-key/v1', own),
  };
}
