import { toolName, type ToolContract } from '#contracts';
import { pointerStep } from '#kernel';
import { diffSchemas } from './diff-schemas.ts';
import { gravest, sameJson, type ToolChange, type ToolDiff } from './tool-change.ts';

type Kind = ToolChange['kind'];
type Judge = (old: unknown, now: unknown) => Kind;

/** What only a model and people read. */
const TEXT = new Set(['title', 'description', 'whenToUse', 'whenNotToUse', 'noUndoReason']);
const LESS_STRICT = ['always', 'policy', 'never'];

const more: Judge = (old, now) => ((now as number) > (old as number) ? 'widening' : 'narrowing');
/** A list that an empty one leaves open, such as the roles that may call. */
const roles: Judge = (old, now) => {
  const [before, after] = [old as readonly string[], now as readonly string[]];
  if (after.length === 0) return 'widening';
  return before.length > 0 && after.some((role) => !before.includes(role)) ? 'widening' : 'narrowing';
};
const approvers: Judge = (old, now) =>
  (now as readonly string[]).some((role) => !(old as readonly string[]).includes(role)) ? 'widening' : 'narrowing';

/** Where the direction of a change says what it means; every other field changes what the tool does. */
const JUDGES: Readonly<Record<string, Judge>> = {
  '/timeoutMs': () => 'compatible',
  '/retry/backoffMs': () => 'compatible',
  '/retry/capMs': () => 'compatible',
  '/access/roles': roles,
  '/approval/mode': (old, now) =>
    LESS_STRICT.indexOf(now as string) > LESS_STRICT.indexOf(old as string) ? 'widening' : 'narrowing',
  '/approval/roles': approvers,
  '/approval/forbidSelf': (_old, now) => (now === true ? 'narrowing' : 'widening'),
  '/approval/ttlMs': more,
  '/approval/evidence': () => 'compatible',
  '/result/maxBytes': more,
  '/result/maxItems': (old, now) => more(old ?? Infinity, now ?? Infinity),
  '/result/allow': (old, now) => {
    if (old === undefined || now === undefined) return now === undefined ? 'widening' : 'narrowing';
    return approvers(old, now);
  },
  '/result/redact': (old, now) =>
    (old as readonly string[]).some((place) => !(now as readonly string[]).includes(place)) ? 'widening' : 'narrowing',
};

/**
 * What changes for whoever uses, judges and pays for a tool when `after` follows `before`.
 * The version alone makes no difference. @throws TypeError when they are two tools
 */
export function diffContracts(before: ToolContract, after: ToolContract): ToolDiff {
  if (toolName(before) !== toolName(after)) throw new TypeError('contracts of two tools have no diff');
  const changes = [
    ...diffSchemas(before.input, after.input, '/input'),
    ...diffSchemas(before.output, after.output, '/output'),
    ...fieldChanges(before, after, ''),
  ];
  return { kind: gravest(changes), changes };
}

const BY_SCHEMA = new Set(['version', 'input', 'output']);

function fieldChanges(before: object, after: object, path: string): ToolChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): ToolChange[] => {
    const [old, now] = [Reflect.get(before, name) as unknown, Reflect.get(after, name) as unknown];
    const place = `${path}${pointerStep(name)}`;
    if ((path === '' && BY_SCHEMA.has(name)) || sameJson(old, now)) return [];
    if (path === '' && TEXT.has(name)) return [{ path: place, kind: 'text_only', message: 'another text' }];
    if (path === '' && ['access', 'approval', 'retry', 'result'].includes(name) && isObject(old) && isObject(now))
      return fieldChanges(old, now, place);
    const kind = JUDGES[place]?.(old, now) ?? 'effect_change';
    return [{ path: place, kind, message: 'changed' }];
  });
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
