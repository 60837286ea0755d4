import type { CallProposed } from '#contracts';
import type { SettlementSource } from '../../../apps/orchestrator/src/domain/saga.types.ts';

/** A grant as it travels. */
export interface Grant {
  readonly callId: string;
  readonly decisionNo: number;
  readonly expiresAtMs: number;
  readonly call: CallProposed;
}

/** A fact for the orchestrator. */
export interface Tell {
  readonly type: 'ApprovalRequested' | 'ApprovalDecided' | 'CallSettled' | 'CallReconciled';
  readonly callId: string;
  readonly data: unknown;
  readonly from?: SettlementSource;
}

export type Parcel =
  /** `sure`: nobody asks for it again; it is a row until the bus has it. */
  | { readonly to: 'orchestrator'; readonly tell: Tell; readonly sure?: true }
  | { readonly to: 'executor'; readonly grant: Grant }
  | { readonly to: 'policy'; readonly run: () => void };

/** Takes what a commit tells; it may come late, in another order, twice, or not at all. */
export interface Bus {
  send(parcel: Parcel): void;
}
