import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { toolKey, type ToolContract } from '#contracts';
import { CountersignError, pointerStep, type ErrorDetail } from '#kernel';
import { FORMATS } from './formats.ts';

/** Faults that are told of one value; more would not help anyone to mend it. */
const MAX_DETAILS = 20;
const MAX_ALLOWED = 50;

export type InputCheck =
  | { readonly ok: true; readonly arguments: Record<string, unknown> }
  | { readonly ok: false; readonly details: ErrorDetail[] };

export interface InputValidator {
  /** Checks and normalizes: defaults are filled in, nothing is coerced. The given value is left as it is. */
  validate(args: unknown): InputCheck;
}

export type OutputCheck = { readonly ok: true } | { readonly ok: false; readonly details: ErrorDetail[] };

export interface OutputValidator {
  validate(data: unknown): OutputCheck;
}

const options = {
  allErrors: true,
  strict: false,
  coerceTypes: false,
  logger: false,
  addUsedSchema: false,
  formats: FORMATS,
} as const;
/** Making an instance costs 20 times a compilation. Nothing is kept in it by `$id`: two contracts may use the same. */
const plain = new Ajv2020({ ...options, useDefaults: false });
const filling = new Ajv2020({ ...options, useDefaults: true });

/** @throws CountersignError CONTRACT_CHANGED when the schema is no JSON Schema 2020-12 that can be checked */
export function compileInput(contract: ToolContract): InputValidator {
  const check = compile(contract, 'input', true);
  const fills = hasDefault(contract.input);
  return {
    validate: (args) => {
      if (typeof args !== 'object' || args === null || Array.isArray(args)) {
        return { ok: false, details: [{ path: '', rule: 'type', message: 'must be an object', allowed: ['object'] }] };
      }
      const normalized = (fills ? copy(args) : args) as Record<string, unknown>;
      return check(normalized) ? { ok: true, arguments: normalized } : { ok: false, details: faults(check.errors) };
    },
  };
}

/** @throws CountersignError CONTRACT_CHANGED when the schema is no JSON Schema 2020-12 that can be checked */
export function compileOutput(contract: ToolContract): OutputValidator {
  const check = compile(contract, 'output', false);
  return { validate: (data) => (check(data) ? { ok: true } : { ok: false, details: faults(check.errors) }) };
}

function compile(contract: ToolContract, part: 'input' | 'output', useDefaults: boolean): ValidateFunction {
  try {
    return compileSchema(contract[part], useDefaults);
  } catch (cause) {
    const text = `The ${part} schema of ${toolKey(contract)} cannot be checked`;
    throw new CountersignError('CONTRACT_CHANGED', text, { cause });
  }
}

export function compileSchema(schema: Record<string, unknown>, useDefaults = false): ValidateFunction {
  return (useDefaults ? filling : plain).compile(schema);
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]));
}

function hasDefault(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([key, value]) => key === 'default' || hasDefault(value));
}

function faults(errors: readonly ErrorObject[] | null | undefined): ErrorDetail[] {
  return (errors ?? []).slice(0, MAX_DETAILS).map(toDetail);
}

const segment = (name: unknown): string => pointerStep(String(name).slice(0, 128));

/** Names the place and the rule; the refused value itself is never repeated. */
function toDetail({ instancePath, keyword, params, message }: ErrorObject): ErrorDetail {
  const about = params as Readonly<Record<string, unknown>>;
  const name = about.missingProperty ?? about.additionalProperty ?? about.unevaluatedProperty;
  const path = name === undefined ? instancePath : instancePath + segment(name);
  const text =
    keyword === 'required' ? 'is missing' : name !== undefined ? 'is not allowed here' : (message ?? keyword);
  return { path, rule: keyword, message: text, ...allowedBy(keyword, about) };
}

function allowedBy(keyword: string, params: Readonly<Record<string, unknown>>): { allowed?: unknown[] } {
  if (keyword === 'enum') return { allowed: (params.allowedValues as unknown[]).slice(0, MAX_ALLOWED) };
  if (keyword === 'const') return { allowed: [params.allowedValue] };
  if (keyword === 'type') return { allowed: [params.type].flat() };
  return {};
}
