export interface Packed {
  /** From 1, as SQL counts. */
  readonly starts: number[];
  readonly lengths: number[];
  readonly bytes: Buffer;
}

/** Many values as one parameter: it travels as bytes, where an array would be escaped and parsed. */
export function packed(values: readonly Buffer[]): Packed {
  let end = 1;
  const starts = values.map((value) => {
    const start = end;
    end += value.length;
    return start;
  });
  return { starts, lengths: values.map((value) => value.length), bytes: Buffer.concat(values, end - 1) };
}
