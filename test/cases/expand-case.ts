import { readFileSync } from 'node:fs';

/** One line of a cases file; see the files' own format: `given` in, `expect` out, `kind` the class of fault. */
export interface Case {
  readonly id: string;
  readonly title: string;
  readonly given: Record<string, unknown>;
  readonly expect: Record<string, unknown>;
  readonly kind: string;
}

/** Reads a file of cases, placeholders expanded: `$repeat`, `$concat`, `$generate`, `$nest`, `$js`. */
export function loadCases(area: string): Case[] {
  const text = readFileSync(new URL(`./${area}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const raw = JSON.parse(line) as Case;
      return { ...raw, given: expand(raw.given) as Case['given'], expect: expand(raw.expect) as Case['expect'] };
    });
}

type Fields = Record<string, unknown>;
type Later = (root: unknown) => void;

/** What JSON cannot hold is put in its place; references within one value are set when that value is whole. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== 'object' || value === null) return value;
  const out: Fields = {};
  for (const [key, member] of Object.entries(value))
    out[key] = key === 'return' || key === 'throw' ? expandWhole(member) : (expandText(member) ?? expand(member));
  return out;
}

function expandWhole(value: unknown): unknown {
  const later: Later[] = [];
  const root = build(value, (set) => later.push(set));
  later.forEach((set) => set(root));
  return root;
}

function expandText(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Fields;
  if (fields.$repeat) {
    const { text, times } = fields.$repeat as { text: string; times: number };
    return text.repeat(times);
  }
  if (fields.$concat) return (fields.$concat as unknown[]).map((part) => expandText(part) ?? part).join('');
  if (fields.$generate) {
    const { count, template } = fields.$generate as { count: number; template: unknown };
    const text = JSON.stringify(template);
    return Array.from({ length: count }, (_, i) => JSON.parse(text.replaceAll('{i}', String(i))) as unknown);
  }
  return undefined;
}

function build(value: unknown, postpone: (set: Later) => void): unknown {
  const text = expandText(value);
  if (text !== undefined) return text;
  if (Array.isArray(value)) {
    const out: unknown[] = [];
    value.forEach((member, i) => place(out as unknown as Fields, String(i), member, postpone));
    return out;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  if ('$nest' in fields) {
    const { depth, key, leaf } = fields.$nest as { depth: number; key: string; leaf: unknown };
    let nested = leaf;
    for (let i = 0; i < depth; i++) nested = { [key]: nested };
    return nested;
  }
  if ('$js' in fields) return special(fields, postpone);
  const out: Fields = {};
  for (const [key, member] of Object.entries(fields)) place(out, key, member, postpone);
  return out;
}

function place(out: Fields, key: string, member: unknown, postpone: (set: Later) => void): void {
  const js = typeof member === 'object' && member !== null ? (member as Fields) : {};
  if (js.$js === 'ref') postpone((root) => void (out[key] = follow(root, String(js.pointer))));
  else if (js.$js === 'getter-throws')
    throwing(out, String(js.property ?? key), String(js.message ?? 'thrown by a getter'));
  else out[key] = build(member, postpone);
}

function throwing(out: object, property: string, message: string): object {
  return Object.defineProperty(out, property, {
    enumerable: true,
    get() {
      throw new Error(message);
    },
  });
}

const follow = (root: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce((at, part) => (at as Fields)[part], root);

function special(fields: Fields, postpone: (set: Later) => void): unknown {
  switch (fields.$js) {
    case 'undefined':
      return undefined;
    case 'bigint':
      return BigInt(fields.value as string);
    case 'error': {
      const error = new Error(String(expandText(fields.message) ?? fields.message));
      if (fields.cause !== undefined) error.cause = build(fields.cause, postpone);
      return error;
    }
    case 'function':
      return () => undefined;
    case 'symbol':
      return Symbol(String(fields.value));
    case 'map':
      return new Map(fields.entries as [unknown, unknown][]);
    case 'function-throws':
      return () => {
        throw new Error('thrown by a function');
      };
    case 'getter-throws':
      return throwing({}, String(fields.property), 'thrown by a getter');
    default:
      throw new Error(`unknown placeholder ${JSON.stringify(fields)}`);
  }
}
