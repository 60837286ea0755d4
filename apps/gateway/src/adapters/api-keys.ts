import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { issueDetails, principalSchema, tenantSchema } from '#contracts';
import { CountersignError } from '#kernel';
import { VERBS, type Caller } from '../domain/caller.ts';
import { TOOL_PATTERN } from '../domain/tool-scope.ts';

const apiKeysSchema = z
  .array(
    z.strictObject({
      /** SHA-256 of the key, in hex: the key itself is nowhere stored. */
      keySha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower case hex digits'),
      tenant: tenantSchema,
      principal: principalSchema.shape.id,
      kind: principalSchema.shape.kind.default('service'),
      roles: principalSchema.shape.roles.min(1),
      /** What the key is narrowed to. */
      scopes: z
        .strictObject({
          verbs: z.array(z.enum(VERBS)).min(1).optional(),
          tools: z.array(z.string().regex(TOOL_PATTERN, 'expected ns.name, ns.* or *')).min(1).max(1000).optional(),
        })
        .optional(),
      /** RFC 3339, with an offset. */
      expiresAt: z.iso.datetime({ offset: true, error: 'expected a time such as 2030-01-31T00:00:00Z' }).optional(),
      revoked: z.boolean().default(false),
    }),
  )
  .min(1);

const SETTING = 'COUNTERSIGN_API_KEYS_FILE';

export interface ApiKey {
  readonly caller: Caller;
  /** Epoch milliseconds; null = never. */
  readonly expiresAt: number | null;
  readonly revoked: boolean;
}
export type ApiKeys = ReadonlyMap<string, ApiKey>;

/** Hash of a key → whose it is. @throws CountersignError INVALID_ARGS with every fault of the file */
export async function readApiKeys(file: string): Promise<ApiKeys> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file} cannot be read (${cause.code})`, { cause });
  });
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw new CountersignError('INVALID_ARGS', `${SETTING}: ${file} is not YAML`, { cause });
  }
  const parsed = apiKeysSchema.safeParse(document);
  if (!parsed.success) {
    const faults = issueDetails(parsed.error.issues).map((fault) => `  - ${fault.path || '/'}: ${fault.message}`);
    throw new CountersignError(
      'INVALID_ARGS',
      `${SETTING}: ${file} must be a list of {keySha256, tenant, principal, kind, roles, scopes, expiresAt, revoked}:\n${faults.join('\n')}`,
    );
  }
  const keys = new Map<string, ApiKey>();
  for (const [index, { keySha256, tenant, principal, kind, roles, scopes, ...key }] of parsed.data.entries()) {
    if (keys.has(keySha256)) {
      throw new CountersignError(
        'INVALID_ARGS',
        `${SETTING}: ${file} /${index}/keySha256: the same key stands twice; remove one`,
      );
    }
    const caller = { tenant, principal: { id: principal, kind, roles }, ...(scopes ? { scope: scopes } : {}) };
    const expiresAt = key.expiresAt === undefined ? null : Date.parse(key.expiresAt);
    keys.set(keySha256, { caller, expiresAt, revoked: key.revoked });
  }
  return keys;
}
