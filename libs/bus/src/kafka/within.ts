/** Waits for `task`, but no longer than `ms`: for what a shutdown would like to have, and can do without. */
export async function within(ms: number, task: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([task, late.promise]).finally(() => clearTimeout(timer));
}
