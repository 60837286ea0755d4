import { pino } from 'pino';

/** One JSON line an event. Fields are ids, codes, counts and durations; never arguments, results, secrets or personal data. */
export interface Log {
  debug(fields: LogFields, event: string): void;
  info(fields: LogFields, event: string): void;
  warn(fields: LogFields, event: string): void;
  error(fields: LogFields, event: string): void;
  child(fields: LogFields): Log;
}
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Logs go to stderr: stdout belongs to answers. */
export function createLog(service: string, level: string): Log {
  return pino(
    { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  ) as unknown as Log;
}

/** By shape, not by class: errors may come from another realm (a worker, a test's sandbox). */
const isErrorLike = (value: unknown): value is Error =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Error).name === 'string' &&
  typeof (value as Error).message === 'string';

/** Class and code of an error, never its message with data: safe for logs. */
export function errorFields(error: unknown): LogFields {
  if (!isErrorLike(error)) return { error: typeof error };
  const cause = isErrorLike(error.cause) ? error.cause : undefined;
  const top = (error.stack ?? '').split('\n').find((line) => line.trimStart().startsWith('at '));
  return {
    error: error.name,
    code: String((error as { code?: unknown }).code ?? ''),
    ...(cause ? { cause: cause.name, causeCode: String((cause as { code?: unknown }).code ?? '') } : {}),
    at: top?.trim().replace(/\(?file:\/\/.*\/(?=[^/]+:\d+:\d+)/, '(') ?? '',
  };
}
