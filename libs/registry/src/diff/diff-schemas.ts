import { pointerStep } from '#kernel';
import { sameJson, type ToolChange } from './tool-change.ts';

type Schema = Readonly<Record<string, unknown>>;

/** They say something to people and models, and nothing about what is accepted. */
const TEXT = new Set(['title', 'description', 'examples', '$comment', 'deprecated', '$id', '$schema']);
/** A higher bound accepts less, or more. */
const LOWER_BOUNDS = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const UPPER_BOUNDS = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);

const asSchema = (value: unknown): Schema | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null;
const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/**
 * What one JSON Schema accepts that the other did not (widening), and the other way round (narrowing). A keyword whose
 * change cannot be judged is an `effect_change`: a person looks at it.
 * @param path of the schemas, as a JSON pointer
 */
export function diffSchemas(before: Schema, after: Schema, path: string): ToolChange[] {
  const keywords = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keywords.flatMap((keyword) => {
    const [old, now] = [before[keyword], after[keyword]];
    if (sameJson(old, now)) return [];
    return diffKeyword(keyword, old, now, `${path}${pointerStep(keyword)}`);
  });
}

function diffKeyword(keyword: string, old: unknown, now: unknown, path: string): ToolChange[] {
  const change = (kind: ToolChange['kind'], message: string): ToolChange[] => [{ path, kind, message }];
  if (TEXT.has(keyword)) return change('text_only', 'another text');
  if (keyword === 'properties') return diffProperties(asSchema(old) ?? {}, asSchema(now) ?? {}, path);
  if (keyword === 'items' && asSchema(old) && asSchema(now)) return diffSchemas(asSchema(old)!, asSchema(now)!, path);
  if (keyword === 'required') return diffRequired(asList(old), asList(now), path);
  if (keyword === 'enum' || keyword === 'type') return diffChoices(old, now, path);
  if (keyword === 'additionalProperties' && typeof (old ?? true) === 'boolean' && typeof (now ?? true) === 'boolean')
    return now === false
      ? change('narrowing', 'other fields are refused')
      : change('widening', 'other fields are let in');
  const bound = LOWER_BOUNDS.has(keyword) ? -1 : UPPER_BOUNDS.has(keyword) ? 1 : 0;
  if (bound !== 0 && [old, now].every((value) => value === undefined || typeof value === 'number')) {
    const open = bound * Infinity;
    const wider = bound * ((now as number | undefined) ?? open) > bound * ((old as number | undefined) ?? open);
    return change(wider ? 'widening' : 'narrowing', `${shown(old)} became ${shown(now)}`);
  }
  if (['pattern', 'format', 'const', 'uniqueItems', 'multipleOf'].includes(keyword)) {
    if (old === undefined) return change('narrowing', `${keyword} was added`);
    if (now === undefined) return change('widening', `${keyword} was taken away`);
  }
  return change('effect_change', `${keyword} changed, and what that lets in cannot be told`);
}

function diffProperties(before: Schema, after: Schema, path: string): ToolChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name): ToolChange[] => {
    const [old, now] = [asSchema(before[name]), asSchema(after[name])];
    const place = `${path}${pointerStep(name)}`;
    if (old && now) return diffSchemas(old, now, place);
    if (sameJson(before[name], after[name])) return [];
    if (!Object.hasOwn(before, name)) return [{ path: place, kind: 'widening', message: 'is new' }];
    if (!Object.hasOwn(after, name)) return [{ path: place, kind: 'narrowing', message: 'is gone' }];
    return [{ path: place, kind: 'effect_change', message: 'changed, and what that lets in cannot be told' }];
  });
}

function diffRequired(before: readonly unknown[], after: readonly unknown[], path: string): ToolChange[] {
  const added = after.filter((name) => !before.includes(name));
  const gone = before.filter((name) => !after.includes(name));
  return [
    ...added.map((name): ToolChange => ({ path, kind: 'narrowing', message: `${shown(name)} must be given` })),
    ...gone.map((name): ToolChange => ({ path, kind: 'widening', message: `${shown(name)} may be left out` })),
  ];
}

function diffChoices(old: unknown, now: unknown, path: string): ToolChange[] {
  if (old === undefined) return [{ path, kind: 'narrowing', message: `only ${shown(now)}` }];
  if (now === undefined) return [{ path, kind: 'widening', message: `no longer only ${shown(old)}` }];
  const [before, after] = [asList(old), asList(now)];
  const added = after.filter((value) => !before.some((other) => sameJson(value, other)));
  const gone = before.filter((value) => !after.some((other) => sameJson(value, other)));
  return [
    ...added.map((value): ToolChange => ({ path, kind: 'widening', message: `${shown(value)} is new` })),
    ...gone.map((value): ToolChange => ({ path, kind: 'narrowing', message: `${shown(value)} is gone` })),
  ];
}

const shown = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value).slice(0, 80));
