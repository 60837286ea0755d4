import type { ToolContract } from '#contracts';
import type { GatewayClient } from './gateway-client.ts';

export interface PublishedTool {
  readonly tool: string;
  readonly version: string;
  readonly digest: string;
  readonly state: 'published' | 'pending_review';
  readonly live: boolean;
  readonly change: string;
  readonly note: string | null;
}

/** Publishes one contract; the same again is no change. */
export const putTool = (client: GatewayClient, contract: ToolContract): Promise<PublishedTool> =>
  client.put(`/v1/tools/${contract.namespace}/${contract.name}/${contract.version}`, contract);
