/** What the bus needs of a log. Fields are ids, codes, counts and durations; never values of messages. */
export interface BusLog {
  debug(fields: BusLogFields, event: string): void;
  info(fields: BusLogFields, event: string): void;
  warn(fields: BusLogFields, event: string): void;
  error(fields: BusLogFields, event: string): void;
}
export type BusLogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

const nothing = (): void => undefined;
export const silentLog: BusLog = { debug: nothing, info: nothing, warn: nothing, error: nothing };
