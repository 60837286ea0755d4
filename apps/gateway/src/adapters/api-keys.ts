import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { issueDetails, principalSchema, tenantSchema } from '#contracts';
import { CountersignError } from '#kernel';
import type { Caller } from '../domain/caller.ts';

const apiKeysSchema = z
  .array(
    z.strictObject({
      /** SHA-256 of the key, in hex: the key itself is nowhere stored. */
      keySha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower case hex digits'),
      tenant: tenantSchema,
      principal: principalSchema.shape.id,
      kind: principalSchema.shape.kind.default('service'),
      roles: principalSchema.shape.roles.min(1),
    }),
  )
  .min(1);

const SETTING = 'COUNTERSIGN_API_KEYS_FILE';

/** Hash of a key → whose it is. @throws CountersignError INVALID_ARGS with every fault of the file */
export async function readApiKeys(file: string): Promise<Map<string, Caller>> {
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
      `${SETTING}: ${file} must be a list of {keySha256, tenant, principal, kind, roles}:\n${faults.join('\n')}`,
    );
  }
  const keys = new Map<string, Caller>();
  for (const [index, { keySha256, tenant, principal, kind, roles }] of parsed.data.entries()) {
    if (keys.has(keySha256)) {
      throw new CountersignError(
        'INVALID_ARGS',
        `${SETTING}: ${file} /${index}/keySha256: the same key stands twice; remove one`,
      );
    }
    keys.set(keySha256, { tenant, principal: { id: principal, kind, roles } });
  }
  return keys;
}
