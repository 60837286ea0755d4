import type { MessageData } from '#contracts';
import type { Tx } from '#persistence';

/** A row of a tool's history. */
export interface ToolHistoryEntry {
  readonly changeNo: number;
  /** ns.name */
  readonly tool: string;
  /** '' = all versions. */
  readonly version: string;
  readonly change: MessageData<'ToolChanged'>['change'];
  /** Of the contract; null = all versions. */
  readonly digest: string | null;
  readonly by: string;
  readonly reason: string | null;
}

/** Who is told of changes. */
export interface ToolChanges {
  /** In the transaction of the changes. @returns what to do when it is committed */
  stage(tx: Tx, tenant: string, changes: readonly ToolHistoryEntry[]): Promise<() => void>;
}

/** For where nobody listens. */
export const untold: ToolChanges = { stage: () => Promise.resolve(() => undefined) };
