import type { PublishedContract } from '#contracts';
import { CountersignError } from '#kernel';
import { ALL_TOOLS, type ContractStore, type QuarantinedTool, type ToolShelf } from '#registry';
import type { ReadPort } from '#runtime';

/** What other services may ask the gateway. */
export function gatewayReads(store: ContractStore, shelf: ToolShelf, suspended: () => ReadonlySet<string>): ReadPort {
  return {
    /** Installation-wide: who knows a digest was given it. */
    contract: async ({ digest }: { digest: string }): Promise<PublishedContract | null> =>
      store.byDigest(text(digest, 'digest')),
    /** The live tools of a tenant. */
    tools: async ({ tenant }: { tenant: string }): Promise<PublishedContract[]> =>
      (await store.list(text(tenant, 'tenant'))).filter(({ standing }) => standing !== 'quarantined'),
    /** Of all tenants: what policy grants no more and no executor sends; of a suspended tenant, everything. */
    quarantined: async (): Promise<QuarantinedTool[]> => [
      ...(await shelf.quarantined()),
      ...[...suspended()].map((tenant) => ({ tenant, tool: ALL_TOOLS, version: '' })),
    ],
  };
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new CountersignError('INVALID_ARGS', `${name} must be text`, {
    details: [{ path: `/${name}`, rule: 'type', allowed: ['string'] }],
  });
}
