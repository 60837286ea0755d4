import {
  message,
  outgoing,
  partitionKey,
  returnedTopic,
  settledTopic,
  type GrantReturned,
  type Message,
  type OutgoingMessage,
} from '#contracts';
import { derivedId, type ErrorCode } from '#kernel';
import { grantDigestOf } from './prepared-call.ts';

const contextOf = (granted: Message<'CallGranted'>, nowMs: number, kind: string) => ({
  tenant: granted.tenant,
  runId: granted.runId!,
  callId: granted.callId!,
  causationId: granted.id,
  correlationId: granted.correlationId,
  now: nowMs,
  id: derivedId('msg', kind, granted.callId!, granted.data.decisionNo, grantDigestOf(granted.data.grant)),
});

/** The grant was not used and can no longer be; policy judges again. */
export function returnGrant(
  granted: Message<'CallGranted'>,
  reason: GrantReturned['reason'],
  pool: string,
  nowMs: number,
): OutgoingMessage {
  const data = { decisionNo: granted.data.decisionNo, reason };
  return outgoing(returnedTopic(pool), message('GrantReturned', contextOf(granted, nowMs, 'returned'), data));
}

/** A forged, foreign or misused grant: no effect, no settlement. */
export function refuseGrant(
  granted: Message<'CallGranted'>,
  code: ErrorCode,
  text: string,
  pool: string,
  nowMs: number,
): OutgoingMessage {
  const data = { code, message: text, grantDigest: grantDigestOf(granted.data.grant), pool };
  return outgoing(returnedTopic(pool), message('GrantRefused', contextOf(granted, nowMs, 'refused'), data));
}

/** The stored record, byte for byte. */
export function storedSettlement(callId: string, settlement: string, pool: string): OutgoingMessage {
  return {
    topic: settledTopic(pool),
    key: callId,
    partitionKey: partitionKey(callId),
    value: Buffer.from(settlement, 'utf8'),
  };
}
