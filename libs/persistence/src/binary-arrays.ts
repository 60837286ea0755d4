/**
 * Arrays as parameters in PostgreSQL's binary form. As text, each element would be escaped here and unescaped there,
 * which is felt where rows carry JSON. Which parameters are arrays of what is read from the casts (`$1::text[]`).
 */
interface ElementType {
  readonly oid: number;
  /** Whether it can be written so; an array with another element is left to the driver. */
  fits(value: unknown): boolean;
  /** Bytes of an element. */
  size(value: never): number;
  /** Writes the element and answers the offset behind it. */
  write(buffer: Buffer, value: never, offset: number): number;
}

const isNumber = (value: unknown): boolean => typeof value === 'number';
const text: Omit<ElementType, 'oid'> = {
  fits: (value) => typeof value === 'string',
  size: (value: string) => Buffer.byteLength(value),
  write: (buffer, value: string, offset) => offset + buffer.write(value, offset),
};

const ELEMENTS: Readonly<Record<string, ElementType>> = {
  text: { oid: 25, ...text },
  json: { oid: 114, ...text },
  bytea: {
    oid: 17,
    fits: (value) => value instanceof Uint8Array,
    size: (value: Uint8Array) => value.length,
    write: (buffer, value: Uint8Array, offset) => {
      buffer.set(value, offset);
      return offset + value.length;
    },
  },
  integer: {
    oid: 23,
    fits: isNumber,
    size: () => 4,
    write: (buffer, value: number, offset) => buffer.writeInt32BE(value, offset),
  },
  bigint: {
    oid: 20,
    fits: isNumber,
    size: () => 8,
    write: (buffer, value: number, offset) => buffer.writeBigInt64BE(BigInt(value), offset),
  },
  float8: {
    oid: 701,
    fits: isNumber,
    size: () => 8,
    write: (buffer, value: number, offset) => buffer.writeDoubleBE(value, offset),
  },
  boolean: {
    oid: 16,
    fits: (value) => typeof value === 'boolean',
    size: () => 1,
    write: (buffer, value: boolean, offset) => buffer.writeUInt8(value ? 1 : 0, offset),
  },
};
const ALIASES: Readonly<Record<string, string>> = { int: 'integer', int4: 'integer', int8: 'bigint', bool: 'boolean' };

const CAST = /\$(\d+)::([a-z0-9]+)\[\]/g;
const casts = new Map<string, ReadonlyMap<number, ElementType>>();
/** Statements are constants of the code; this only guards against a mistake. */
const MAX_STATEMENTS = 2_000;

function castsOf(statement: string): ReadonlyMap<number, ElementType> {
  let found = casts.get(statement);
  if (!found) {
    const entries = [...statement.matchAll(CAST)].map(
      ([, place, type]) => [Number(place) - 1, ELEMENTS[ALIASES[type!] ?? type!]] as const,
    );
    found = new Map(entries.filter((entry): entry is readonly [number, ElementType] => entry[1] !== undefined));
    if (casts.size < MAX_STATEMENTS) casts.set(statement, found);
  }
  return found;
}

/** The values with each array that has a known cast in binary form. */
export function withBinaryArrays(statement: string, values: readonly unknown[]): unknown[] {
  const types = castsOf(statement);
  if (types.size === 0) return values as unknown[];
  return values.map((value, i) => {
    const type = types.get(i);
    const fits = type && Array.isArray(value) && value.every((v) => v === null || v === undefined || type.fits(v));
    return fits ? encodeArray(type, value as never[]) : value;
  });
}

const HEADER_BYTES = 20;
const EMPTY_BYTES = 12;

function encodeArray(type: ElementType, values: readonly (never | null | undefined)[]): Buffer {
  if (values.length === 0) {
    const empty = Buffer.alloc(EMPTY_BYTES);
    empty.writeInt32BE(type.oid, 8);
    return empty;
  }
  const sizes = values.map((value) => (value === null || value === undefined ? -1 : type.size(value)));
  const buffer = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + Math.max(size, 0), HEADER_BYTES));
  buffer.writeInt32BE(1, 0); // dimensions
  buffer.writeInt32BE(sizes.includes(-1) ? 1 : 0, 4);
  buffer.writeInt32BE(type.oid, 8);
  buffer.writeInt32BE(values.length, 12);
  let offset = buffer.writeInt32BE(1, 16); // lower bound
  values.forEach((value, i) => {
    offset = buffer.writeInt32BE(sizes[i]!, offset);
    if (sizes[i] !== -1) offset = type.write(buffer, value as never, offset);
  });
  return buffer;
}
