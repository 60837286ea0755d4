import type { GrantClaims } from '#grants';
import type { Message } from '#contracts';
import { digestArguments, digestJson } from '#kernel';

/**
 * Compares a CallGranted with the claims of its grant (G3). Nothing in the message is believed that the signature does
 * not cover; the digest of the arguments is computed again.
 * @returns what does not fit, or null
 */
export function grantMismatch(granted: Message<'CallGranted'>, claims: GrantClaims, pool: string): string | null {
  const { data } = granted;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['callId', granted.callId, claims.callId],
    ['runId', granted.runId, claims.runId],
    ['tenant', granted.tenant, claims.tenant],
    ['pool', data.pool, claims.aud],
    ['pool', pool, claims.aud],
    ['decisionNo', data.decisionNo, claims.decisionNo],
    ['principal', data.principal.id, claims.principal],
    ['tool', data.tool, claims.tool],
    ['contractDigest', data.contractDigest, claims.contractDigest],
    ['effectClass', data.effectClass, claims.effectClass],
    ['operationKey', data.operationKey, claims.operationKey],
    ['undoes', data.undoes?.callId, claims.undoes],
    ['facts', data.facts && digestJson('facts/v1', data.facts), claims.factsDigest],
    ['argumentsDigest', data.argumentsDigest, claims.argsDigest],
    ['resources', JSON.stringify(data.resources), JSON.stringify(claims.resources)],
  ];
  const wrong = pairs.find(([, found, granted]) => found !== granted);
  if (wrong) return wrong[0];
  return digestArguments(claims.tool, claims.contractDigest, data.arguments) === claims.argsDigest ? null : 'arguments';
}
