import { tenantSchema } from '../envelope.schema.ts';

/** A ledger is one tenant on one partition of the audit: `acme/3`. */
export interface LedgerId {
  readonly tenant: string;
  readonly partition: number;
}

export const ledgerName = ({ tenant, partition }: LedgerId): string => `${tenant}/${partition}`;

const PARTITION = /^(?:0|[1-9]\d{0,3})$/;

/** @returns null when it names no ledger */
export function readLedgerName(name: string): LedgerId | null {
  const [tenant = '', partition = '', ...rest] = name.split('/');
  if (rest.length > 0 || !PARTITION.test(partition) || !tenantSchema.safeParse(tenant).success) return null;
  return { tenant, partition: Number(partition) };
}
