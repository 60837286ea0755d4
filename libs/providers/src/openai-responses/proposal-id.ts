import { digestText } from '#kernel';

/** Longer ids (some gateways put signatures into them) are named by their digest; the item keeps the real one. */
const MAX_ID = 512;

/** Our name of the proposal that the provider calls `callId`. */
export const proposalIdOf = (callId: string): string =>
  callId.length <= MAX_ID ? callId : digestText('provider-call-id/v1', callId);
