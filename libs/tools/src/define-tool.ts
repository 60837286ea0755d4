import { type z } from 'zod';
import { issueDetails, toolContractSchema, type ToolContract, type ToolContractInput } from '#contracts';
import { CountersignError, type ErrorDetail } from '#kernel';
import { contractDigest } from '#registry';
import type { Handler, HandlerContext } from './runners/local.runner.ts';
import type { Probe, ProbeAnswer, ProbeContext } from './runners/probe.runner.ts';
import { ToolFailure } from './tool-failure.ts';
import { schemaFromZod } from './schema-from-zod.ts';

type JsonSchema = Record<string, unknown>;
type Schema = z.ZodType | JsonSchema;

export type ToolInput<I extends Schema = Schema> = Omit<ToolContractInput, 'input' | 'output'> & {
  /** A zod object, or a JSON Schema 2020-12 with an object at its root. */
  readonly input: I;
  /** Of the data of a success. */
  readonly output: Schema;
};

type ArgumentsOf<I> = I extends z.ZodType ? z.output<I> : Readonly<Record<string, unknown>>;
export type TypedHandler<I extends Schema> = (args: ArgumentsOf<I>, context: HandlerContext) => Promise<unknown>;

export type TypedProbe<I extends Schema> = (args: ArgumentsOf<I>, context: ProbeContext) => Promise<ProbeAnswer>;
/** A local tool that can be asked what became of a write. */
export interface Functions<I extends Schema> {
  readonly run: TypedHandler<I>;
  /** Reads only: it may be called again and again, by other processes too. */
  readonly reconcile: TypedProbe<I>;
}

/** One tool version with, for local tools, the function that runs it. */
export interface DefinedTool {
  readonly contract: ToolContract;
  /** RFC 8785 SHA-256 of the contract. */
  readonly digest: string;
  readonly handler?: Handler;
  /** Answers what became of a write whose outcome is unknown. */
  readonly probe?: Probe;
}

const BRAND = Symbol.for('countersign.defined-tool');

/** Also recognizes a tool that another copy of this module defined. */
export const isDefinedTool = (value: unknown): value is DefinedTool =>
  typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;

/**
 * Makes a tool from its contract and, for `execution.kind: local`, its handler, or `{run, reconcile}` where the
 * contract's `reconcile` names no HTTP request. A zod `input` also checks and types the arguments of both.
 * @throws CountersignError INVALID_ARGS that names the tool, the place and the remedy of each fault
 */
export function defineTool<I extends Schema>(
  input: ToolInput<I>,
  functions?: TypedHandler<I> | Functions<I>,
): DefinedTool {
  const handler = typeof functions === 'function' ? functions : functions?.run;
  const probe = typeof functions === 'function' ? undefined : functions?.reconcile;
  const label = labelOf(input);
  const faults: ErrorDetail[] = [];
  const schemaOf = (schema: Schema, place: 'input' | 'output'): JsonSchema => {
    if (!isZod(schema)) return schema;
    try {
      return schemaFromZod(schema, place);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it has no JSON Schema';
      faults.push({
        path: `/${place}`,
        rule: 'jsonSchema',
        message: `${why}; use types that JSON Schema can express, or give a JSON Schema`,
      });
      return { type: 'object' };
    }
  };
  const parsed = toolContractSchema.safeParse({
    ...input,
    input: schemaOf(input.input, 'input'),
    output: schemaOf(input.output, 'output'),
  });
  if (!parsed.success) faults.push(...issueDetails(parsed.error.issues));
  else if (parsed.data.input.type !== 'object') {
    faults.push({
      path: '/input/type',
      rule: 'object',
      message: 'arguments are one object; set "type": "object" at the root',
    });
  }
  if (parsed.data && handler && parsed.data.execution.kind !== 'local') {
    faults.push({
      path: '/execution/kind',
      rule: 'handler',
      message: 'only a local tool has a handler; remove it or set kind to "local"',
    });
  }
  if (parsed.data) faults.push(...probeFaults(parsed.data, probe !== undefined));
  if (faults.length > 0 || !parsed.success) throw faulty(label, faults);
  const contract = deepFreeze(parsed.data);
  const run = handler && typedHandler(input.input, handler as TypedHandler<Schema>);
  const look = probe && typedProbe(input.input, probe as TypedProbe<Schema>);
  return Object.freeze({
    contract,
    digest: contractDigest(contract),
    ...(run ? { handler: run } : {}),
    ...(look ? { probe: look } : {}),
    [BRAND]: true,
  });
}

function probeFaults({ reconcile, execution }: ToolContract, hasProbe: boolean): ErrorDetail[] {
  const path = '/reconcile';
  if (hasProbe && (!reconcile || reconcile.http)) {
    const message =
      'a reconcile function needs "reconcile" in the contract, without "http"; add it, or remove the function';
    return [{ path, rule: 'probe', message }];
  }
  if (!hasProbe && reconcile && !reconcile.http && execution.kind === 'local') {
    const message = 'names no HTTP request: give { run, reconcile } to defineTool, or set "http"';
    return [{ path, rule: 'probe', message }];
  }
  return [];
}

/** A contract from a file, for a tool that needs no handler. */
export function defineContract(document: unknown): DefinedTool {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw faulty('a tool', [
      { path: '', rule: 'type', message: 'expected an object with namespace, name, version, input, output, …' },
    ]);
  }
  return defineTool(document as ToolInput<JsonSchema>);
}

function labelOf(input: unknown): string {
  const { namespace, name, version } = (input ?? {}) as Record<string, unknown>;
  return `tool ${[namespace, name].map((part) => (typeof part === 'string' ? part : '?')).join('.')}@${typeof version === 'string' ? version : '?'}`;
}

function faulty(label: string, details: readonly ErrorDetail[]): CountersignError {
  const lines = details.map((detail) => `${detail.path || '/'}: ${detail.message ?? detail.rule}`);
  return new CountersignError('INVALID_ARGS', `${label} is not a valid contract: ${lines.join('; ')}`, { details });
}

const isZod = (schema: unknown): schema is z.ZodType =>
  typeof schema === 'object' && schema !== null && '_zod' in schema;

function typedHandler(schema: Schema, handler: TypedHandler<Schema>): Handler {
  if (!isZod(schema)) return handler as Handler;
  return async (args, context) => {
    const parsed = schema.safeParse(args);
    if (parsed.success) return handler(parsed.data as never, context);
    const first = issueDetails(parsed.error.issues)[0];
    throw new ToolFailure(`the arguments do not fit${first ? `: ${first.path || '/'} ${first.message ?? ''}` : ''}`, {
      code: 'INVALID_ARGS',
      noEffect: true,
    });
  };
}

function typedProbe(schema: Schema, probe: TypedProbe<Schema>): Probe {
  if (!isZod(schema)) return probe as Probe;
  return async (args, context) => {
    const parsed = schema.safeParse(args);
    return parsed.success ? probe(parsed.data as never, context) : { outcome: 'cannot_tell' };
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
