import type { z } from 'zod';

export type KeyKind = 'callId' | 'runId' | 'tenant';

export interface CatalogueRow {
  readonly version: number;
  readonly schema: z.ZodType;
  /** Topic, or the family with `<pool>`. */
  readonly topic: string;
  /** Message key: the callId, the runId or, for what belongs to no run, the tenant of the envelope. */
  readonly key: KeyKind;
  readonly kind: 'command' | 'fact';
  readonly producer: string;
  readonly consumers: readonly string[];
  readonly meaning: string;
}

export const row = <S extends z.ZodType>(
  schema: S,
  rest: Omit<CatalogueRow, 'schema' | 'version'> & { version?: number },
) => ({ version: 1, ...rest, schema });
