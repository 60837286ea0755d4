import { z } from 'zod';
import { CountersignError } from '#kernel';

/** Environment variable → schema (with `.describe(meaning)`); resolved once, frozen. */
export type SettingsShape = Readonly<Record<string, z.ZodType>>;
export type Settings<S extends SettingsShape> = Readonly<{ [K in keyof S]: z.infer<S[K]> }>;
export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'COUNTERSIGN_';
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|_URL$/;

/**
 * Resolves the settings of one process.
 * @throws CountersignError INVALID_ARGS with every fault in one message: name, what was found (secrets masked), what is expected
 */
export function resolveSettings<S extends SettingsShape>(
  shape: S,
  env: Environment,
  alsoKnown: readonly string[] = [],
): Settings<S> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const found = env[name] === '' ? undefined : env[name];
    const parsed = schema.safeParse(found);
    if (parsed.success) values[name] = parsed.data;
    else {
      const shown = found === undefined ? 'not set' : SECRET.test(name) ? '(hidden)' : JSON.stringify(found);
      const meaning = schema.description ? ` (${schema.description})` : '';
      faults.push(
        `${name}: found ${shown}; ${[...new Set(parsed.error.issues.map((i) => i.message))].join('; ')}${meaning}`,
      );
    }
  }
  const known = [...Object.keys(shape), ...alsoKnown];
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    const near = nearest(name, known);
    faults.push(`${name}: not a setting${near ? `; did you mean ${near}?` : ''}`);
  }
  if (faults.length > 0) {
    throw new CountersignError('INVALID_ARGS', `Bad configuration:\n${faults.map((f) => `  - ${f}`).join('\n')}`);
  }
  return Object.freeze(values) as Settings<S>;
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const scored = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return scored[0] && scored[0].distance <= 6 ? scored[0].candidate : undefined;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}

/** "a, b" → ['a', 'b']; for list-valued variables. */
export const listSetting = (fallback: string): z.ZodType<string[]> =>
  z
    .string()
    .default(fallback)
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    );

export const integerSetting = (fallback: number, min: number, max: number): z.ZodType<number> =>
  z.coerce
    .number({ error: `expected a whole number from ${min} to ${max}` })
    .int()
    .min(min)
    .max(max)
    .default(fallback);

/** `1`, `true` = on; `0`, `false`, unset = off. */
export const flagSetting = (): z.ZodType<boolean> =>
  z
    .enum(['1', 'true', '0', 'false'])
    .default('0')
    .transform((text) => text === '1' || text === 'true');
