import type { ProposeCalls } from '#contracts';
import type { ErrorDetail } from '#kernel';
import { isReplaced, isSettled, type Call } from './call-state.ts';

type Named = ProposeCalls['proposals'][number];
type Resolved =
  | { readonly ok: true; readonly dependsOn: ReadonlyMap<string, readonly string[]> }
  | { readonly ok: false; readonly details: readonly ErrorDetail[] };

/**
 * What the proposals of a client say that they wait for, as callIds.
 *
 * W1 a name is a callId of the run, a providerCallId of the same request, or one of an earlier request, in this order;
 *    a name for several calls is no name.
 * W2 no call waits for itself, whatever the way round: each edge of a circle is told.
 */
export function resolveDependencies(calls: readonly Call[], proposals: readonly Named[]): Resolved {
  const details: ErrorDetail[] = [];
  const edges = new Map<string, (string | null)[]>();
  proposals.forEach(({ callId, dependsOn }, index) => {
    if (dependsOn === undefined) return;
    const targets = dependsOn.map((name, at) => {
      const found = [...new Set(callsNamed(name, proposals, calls))];
      const fault = faultOf(found, callId);
      if (fault) details.push({ path: `/calls/${index}/dependsOn/${at}`, ...fault });
      return fault ? null : found[0]!;
    });
    edges.set(callId, targets);
  });
  proposals.forEach(({ callId }, index) => {
    edges.get(callId)?.forEach((target, at) => {
      if (target !== null && reaches(edges, target, callId))
        details.push({ path: `/calls/${index}/dependsOn/${at}`, rule: 'acyclic', message: 'closes a circle' });
    });
  });
  if (details.length > 0) return { ok: false, details };
  return { ok: true, dependsOn: new Map([...edges].map(([callId, ids]) => [callId, [...new Set(ids as string[])]])) };
}

function callsNamed(name: string, proposals: readonly Named[], calls: readonly Call[]): string[] {
  const own = [...proposals, ...calls].filter((call) => call.callId === name);
  const here = proposals.filter((proposal) => proposal.providerCallId === name);
  const earlier = calls.filter((call) => call.providerCallId === name && !isReplaced(call));
  return [own, here, earlier].find((found) => found.length > 0)?.map((call) => inPlaceOf(call.callId, calls)) ?? [];
}

/** Who waits for a call whose arguments a person changed waits for the one that was made. */
function inPlaceOf(callId: string, calls: readonly Call[]): string {
  const call = calls.find((other) => other.callId === callId);
  return call && isSettled(call) && call.replacedBy !== undefined ? inPlaceOf(call.replacedBy, calls) : callId;
}

function faultOf(found: readonly string[], callId: string): Omit<ErrorDetail, 'path'> | undefined {
  if (found.length === 0)
    return {
      rule: 'known',
      message: 'names no call of this run: a callId, or a providerCallId of this or an earlier request',
    };
  if (found.length > 1) return { rule: 'unique', message: 'names several calls of this run: use the callId' };
  return found[0] === callId ? { rule: 'acyclic', message: 'names the call itself' } : undefined;
}

function reaches(edges: ReadonlyMap<string, readonly (string | null)[]>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(edges.get(at) ?? []).filter((next) => next !== null));
  }
  return false;
}
