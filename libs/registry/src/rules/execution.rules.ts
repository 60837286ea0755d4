import { isRead, type ToolContract } from '#contracts';
import type { PublishFault } from '../check-publishable.ts';
import { propertiesOf, unknownArgument } from './schema.rules.ts';

const PLACEHOLDER = /(?<!\$)\{([^{}]*)\}/g;
export const placeholders = (template: string): string[] =>
  [...template.matchAll(PLACEHOLDER)].map((match) => match[1]!);

/** Templates and the way the tool is run. */
export function executionFaults(contract: ToolContract): PublishFault[] {
  return [...resourceFaults(contract), ...fenceFaults(contract), ...keyFaults(contract), ...httpFaults(contract)];
}

function resourceFaults({ resources, resourceForms = {}, concurrency, input }: ToolContract): PublishFault[] {
  const properties = propertiesOf(input);
  const required = Array.isArray(input.required) ? (input.required as unknown[]) : [];
  const faults: PublishFault[] = [];
  if (concurrency === 'per_resource' && resources.length === 0) {
    const message = 'are needed by concurrency "per_resource": name what a call touches, such as "ticket:{ticket_id}"';
    faults.push({ path: '/resources', rule: 'required', message });
  }
  resources.forEach((template, i) => {
    const path = `/resources/${i}`;
    for (const name of placeholders(template)) {
      if (!Object.hasOwn(properties, name)) faults.push(unknownArgument(path, name, properties));
      else if (!required.includes(name) && properties[name]?.default === undefined) {
        faults.push({
          path,
          rule: 'required',
          message: `uses "${name}", which may be absent: require the argument or give it a default`,
        });
      }
    }
  });
  for (const name of Object.keys(resourceForms)) {
    if (resources.some((template) => placeholders(template).includes(name))) continue;
    const message = `is for "${name}", which no resource uses: name the argument in "resources", or remove its form`;
    faults.push({ path: `/resourceForms/${name}`, rule: 'known', message });
  }
  return faults;
}

function fenceFaults({ fence, concurrency, resources }: ToolContract): PublishFault[] {
  if (!fence || concurrency === 'exclusive' || (concurrency === 'per_resource' && resources.length === 1)) return [];
  const message = 'needs one holder: set concurrency to "exclusive", or to "per_resource" with exactly one resource';
  return [{ path: '/fence', rule: 'oneHolder', message }];
}

function keyFaults({ idempotency, input }: ToolContract): PublishFault[] {
  if (idempotency.mode !== 'key') return [];
  const properties = propertiesOf(input);
  const path = '/idempotency/template';
  return placeholders(idempotency.template).flatMap((name): PublishFault[] => {
    if (name === 'task' || name === 'tool') return [];
    if (!name.startsWith('arg:')) {
      return [{ path, rule: 'known', message: `"{${name}}" is unknown: use {task}, {tool} or {arg:<name>}` }];
    }
    const argument = name.slice(4);
    return Object.hasOwn(properties, argument) ? [] : [unknownArgument(path, argument, properties)];
  });
}

function httpFaults({ execution, input, ...contract }: ToolContract): PublishFault[] {
  if (execution.kind !== 'http') return [];
  const faults: PublishFault[] = [];
  const properties = propertiesOf(input);
  faults.push(...urlFaults(execution.url, '/execution/url', properties));
  for (const name of execution.query ?? []) {
    if (!Object.hasOwn(properties, name)) faults.push(unknownArgument('/execution/query', name, properties));
  }
  if (isRead(contract) && !['GET', 'POST'].includes(execution.method)) {
    const message = `a read does not use ${execution.method}: use GET (or POST for a search), or set layer to "write"`;
    faults.push({ path: '/execution/method', rule: 'readWithoutEffect', message });
  }
  return faults;
}

type Properties = ReturnType<typeof propertiesOf>;

/** A template of an address: the host is written out, the rest may name arguments. */
export function urlFaults(
  url: string,
  path: string,
  properties: Properties,
  alsoKnown: readonly string[] = [],
): PublishFault[] {
  const faults: PublishFault[] = [];
  const [, origin = '', rest = ''] = /^((?:[a-z][a-z0-9+.-]*:\/\/|\$\{)[^/?#]*)(.*)$/i.exec(url) ?? [];
  if (!/^(https?:\/\/[^/]|\$\{[A-Z][A-Z0-9_]*\})/.test(origin)) {
    faults.push({ path, rule: 'url', message: 'must begin with https://, http:// or ${ENV_NAME}' });
  } else if (placeholders(origin).length > 0) {
    faults.push({ path, rule: 'anyUrl', message: 'lets an argument choose the host: write the host out' });
  }
  for (const name of placeholders(rest)) {
    const known = Object.hasOwn(properties, name) || alsoKnown.includes(name);
    if (!known) faults.push(unknownArgument(path, name, properties));
  }
  return faults;
}
