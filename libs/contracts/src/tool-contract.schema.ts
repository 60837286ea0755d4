import { z } from 'zod';
import { ERROR_CODE_NAMES } from '#kernel';

/** No double underscore: it separates namespace and name in the name that a model sees. */
const name = z
  .string()
  .regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
  .max(30);
/** How a tool is named where its version may be left open: `ns.name` or `ns.name@1.2.3`. */
export const toolReferenceSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*(@\d+\.\d+\.\d+)?$/, 'use "namespace.name" or "namespace.name@1.2.3"');
/** JSON Schema 2020-12 with an object at its root. */
const jsonSchema = z.record(z.string(), z.unknown());

/** A JSON pointer, `""` = the whole. */
const pointer = z.string().regex(/^(\/.*)?$/, 'expected a JSON pointer');

/** Where an operation key goes in an HTTP request. */
const keyPlace = z.union([z.object({ header: z.string().min(1) }), z.object({ argument: z.string().min(1) })]);

const httpExecution = z.object({
  kind: z.literal('http'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** May hold `{argument}` in its path and `${ENV_NAME}` for settings of the executor. */
  url: z.string().min(1),
  /** Arguments that become query parameters (default for GET: all that the path does not use; else none). */
  query: z.array(z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  pool: name.default('default'),
});
const fromArgument = z.strictObject({
  argument: z.string().regex(/^(\/|$)/, 'is a JSON pointer, such as "/ticket_id"'),
});
const fromContract = z.strictObject({ value: z.json() });
/** Where an argument of an undo comes from: the undone call's arguments, its sanitized result, or the contract itself. */
const undoArgument = z.union([
  fromArgument,
  z.strictObject({ result: z.string().regex(/^(\/|$)/, 'is a JSON pointer, such as "/id"') }),
  fromContract,
]);
/** How a call is undone, or that after it there is no way back (`noUndoReason` says why). */
const compensationSchema = z.union([
  z.strictObject({
    tool: toolReferenceSchema,
    arguments: z.record(z.string(), undoArgument),
  }),
  z.strictObject({ pivot: z.literal(true) }),
]);
export type UndoMapping = Extract<z.infer<typeof compensationSchema>, { tool: string }>;

/** What policy must know of a resource before a write is judged, and how the write is bound to it. */
const factsSchema = z.strictObject({
  /** A read. */
  tool: toolReferenceSchema,
  /** Argument of the read → where it comes from. */
  arguments: z.record(z.string(), z.union([fromArgument, fromContract])),
  /** Fact → pointer into the read's sanitized result. Each that is named must be there, or the call is denied. */
  values: z.strictObject({
    /** Text. */
    ownership: pointer.optional(),
    /** An exact integer: money in minor units. */
    price: pointer.optional(),
    /** An exact integer. */
    quota: pointer.optional(),
    /** Text. */
    state: pointer.optional(),
    /** Text or an exact integer that changes whenever any of the others does. */
    resourceVersion: pointer,
  }),
  /** Where the version goes in the write (`If-Match`), so that the source system refuses one that has changed (412). */
  versionPlace: keyPlace,
});

const localExecution = z.object({ kind: z.literal('local'), pool: name.default('default') });

/** When an answer of the probe says so: everything that is given here must hold. Without `status`: any 2xx. */
const probeAnswer = z.strictObject({
  status: z.array(z.int().min(200).max(599)).min(1).optional(),
  pointer: pointer.optional(),
  /** One of these stands at `pointer`. */
  values: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .min(1)
    .optional(),
});

/** How to find out afterwards whether a write happened: a read that the executor makes. */
const reconcile = z.strictObject({
  /** Absent: a local tool's `reconcile` function. */
  http: z
    .strictObject({
      /** May hold `{operationKey}`, `{argument}` and `${ENV_NAME}`, as may the headers. */
      url: z.string().min(1),
      headers: z.record(z.string(), z.string()).optional(),
      applied: probeAnswer,
      notApplied: probeAnswer.optional(),
      partly: probeAnswer.optional(),
      /** Pointer to the result of the write within an answer that says "applied". */
      result: pointer.optional(),
      /** Pointer to the list of what was done within an answer that says "partly". */
      items: pointer.optional(),
    })
    .optional(),
  /** "Not applied" is final: the probe voids the key, or the tool refuses a late request by its fence or deadline. */
  final: z.boolean().default(false),
  /** The write can happen in part. */
  partialEffect: z.boolean().default(false),
  timeoutMs: z.int().min(1).max(60_000).default(5_000),
  /** Looks before the call is reported as unknown, with doubling pauses from `firstMs` to `capMs`. */
  tries: z.int().min(1).max(10).default(3),
  firstMs: z.int().min(1).default(200),
  capMs: z.int().min(1).default(5_000),
  /** Pause between later looks, doubling up to a quarter of an hour; after `forMs` it is left to a person. */
  everyMs: z.int().min(1).default(30_000),
  forMs: z
    .int()
    .min(0)
    .max(30 * 86_400_000)
    .default(86_400_000),
});

const RESOURCE_FORMS = ['path', 'lower', 'lower_path'] as const;

/** The immutable definition of one tool version; its RFC 8785 digest is the contract digest. */
export const toolContractSchema = z.strictObject({
  namespace: name,
  name,
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  kind: z.literal('function').default('function'),
  layer: z.enum(['read', 'write', 'draft', 'execute']),
  title: z.string().min(1).max(120),
  description: z.string().min(1).max(4000),
  whenToUse: z.string().min(1).max(2000),
  whenNotToUse: z.string().min(1).max(2000),
  input: jsonSchema,
  output: jsonSchema,
  errors: z
    .array(
      z.strictObject({
        /** The backend's own code or HTTP status. */
        when: z.union([z.string(), z.int()]),
        code: z.enum(ERROR_CODE_NAMES),
        retryable: z.boolean().default(false),
        userAction: z.boolean().default(false),
        humanTakeover: z.boolean().default(false),
        /** Proves that nothing was changed. */
        noEffect: z.boolean().default(false),
        meaning: z.string().min(1),
      }),
    )
    .default([]),
  sideEffects: z.enum(['none', 'reversible', 'irreversible', 'external_message', 'money']),
  risk: z.enum(['low', 'medium', 'high', 'critical']).default('low'),
  access: z.strictObject({ roles: z.array(z.string()).default([]) }).default({ roles: [] }),
  approval: z
    .strictObject({
      mode: z.enum(['never', 'policy', 'always']),
      roles: z.array(z.string()).default(['approver']),
      forbidSelf: z.boolean().default(true),
      ttlMs: z
        .int()
        .min(1000)
        .max(30 * 86_400_000)
        .default(3_600_000),
      evidence: z.array(z.string()).default([]),
      /** How many different people must approve; absent = one. */
      quorum: z.int().min(1).max(10).optional(),
    })
    .default({ mode: 'policy', roles: ['approver'], forbidSelf: true, ttlMs: 3_600_000, evidence: [] }),
  /** Templates over the arguments, e.g. `ticket:{ticket_id}`. */
  resources: z.array(z.string().min(1).max(256)).default([]),
  /**
   * Argument → how its text is brought to one form in `resources`; absent = as it is written (NFC). `path`: `./a//b/../c` is
   * `a/c`, and what leads out of its folder is refused; `lower`: case does not matter; `lower_path`: both.
   */
  resourceForms: z.record(z.string(), z.enum(RESOURCE_FORMS)).optional(),
  facts: factsSchema.optional(),
  concurrency: z.enum(['parallel', 'per_resource', 'exclusive']).default('parallel'),
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
  retry: z
    .strictObject({ attempts: z.int().min(1).max(10), backoffMs: z.int().min(1), capMs: z.int().min(1) })
    .default({ attempts: 1, backoffMs: 200, capMs: 5_000 }),
  idempotency: z
    .discriminatedUnion('mode', [
      z.strictObject({ mode: z.literal('natural') }),
      /** `template` may use {task}, {tool} and {arg:<name>}; the runtime prefixes tenant and principal. */
      z.strictObject({ mode: z.literal('key'), template: z.string().min(1), place: keyPlace }),
      z.strictObject({ mode: z.literal('none') }),
    ])
    .default({ mode: 'natural' }),
  reconcile: reconcile.optional(),
  /** What holds while an outcome is unknown. */
  onUnknown: z
    .strictObject({
      /** `keep`: nobody else writes the resources until the outcome is known. */
      holds: z.enum(['keep', 'continue']).default('keep'),
      /** Two people must say the same before an unknown outcome is decided. */
      fourEyes: z.boolean().default(false),
    })
    .optional(),
  /** Where the fence of the call's one resource goes: a number that grows with each holder, so that the tool can refuse a late one. */
  fence: keyPlace.optional(),
  /** The reason why there is neither reconcile nor compensation, for a write. */
  noUndoReason: z.string().optional(),
  /** A governed call that takes the effect back; absent = nothing does. */
  compensation: compensationSchema.optional(),
  /** An argument that must name sources of this run: `evidence_ids` → ids that this run's reads returned. */
  evidenceArgument: z.string().optional(),
  /** A required integer argument (money in minor units, a count) that policy may limit as `context.amount`. */
  amountArgument: z.string().optional(),
  result: z
    .strictObject({
      maxBytes: z.int().min(64).default(65_536),
      maxItems: z.int().min(1).optional(),
      /** Top-level fields that may leave the executor; absent = all that the output schema declares. */
      allow: z.array(z.string()).optional(),
      /** JSON pointers (`*` for any item) whose values are replaced by a label. */
      redact: z.array(z.string()).default([]),
      /** Pointer (`*` for any item) to the ids that later calls may cite as evidence. */
      sourceIds: z.string().optional(),
      /** Pointer to the id of what a write made or changed. */
      resourceId: z.string().optional(),
    })
    .default({ maxBytes: 65_536, redact: [] }),
  execution: z.discriminatedUnion('kind', [localExecution, httpExecution]),
});
export type ToolContract = z.infer<typeof toolContractSchema>;
export type ToolContractInput = z.input<typeof toolContractSchema>;

export type ResourceForm = (typeof RESOURCE_FORMS)[number];
export type FactsOfContract = NonNullable<ToolContract['facts']>;
export type Reconcile = NonNullable<ToolContract['reconcile']>;

export const toolName = (contract: Pick<ToolContract, 'namespace' | 'name'>): string =>
  `${contract.namespace}.${contract.name}`;
export const toolKey = (contract: Pick<ToolContract, 'namespace' | 'name' | 'version'>): string =>
  `${contract.namespace}.${contract.name}@${contract.version}`;
/** The name that a model sees: no dots, at most 64 characters. */
export const modelToolName = (contract: Pick<ToolContract, 'namespace' | 'name'>): string =>
  `${contract.namespace}__${contract.name}`;

/** Writes change the world: `write` and `execute`. Reads and drafts-as-text do not; a draft that is stored is a write too. */
export const isRead = (contract: Pick<ToolContract, 'layer'>): boolean => contract.layer === 'read';

/** A published version: the contract with its digest. */
export const publishedContractSchema = z.object({ digest: z.string(), contract: toolContractSchema });
export type PublishedContract = z.infer<typeof publishedContractSchema>;
