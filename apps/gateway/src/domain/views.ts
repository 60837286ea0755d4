import { SETTLED_STATUSES, TAKEN_BACK_STATUSES, type CallError, type ResultViews, type ShownStatus } from '#contracts';
import { seesTenant, type Caller } from './caller.ts';
import { resultOf, type Settlement } from './result-view.ts';

/** A view as another service answers it; the fields that the API promises are read, others are passed on. */
export type View = Readonly<Record<string, unknown>>;

const ENDED: ReadonlySet<unknown> = new Set(['completed', 'stopped', 'failed', 'budget_exhausted', 'cancelled']);
/** A call that was taken back, or should have been, is settled all the same. */
const TAKEN_BACK: ReadonlySet<unknown> = new Set(TAKEN_BACK_STATUSES);
const SETTLED: ReadonlySet<unknown> = new Set([...SETTLED_STATUSES, ...TAKEN_BACK_STATUSES]);

export const isEnded = (run: View): boolean => ENDED.has(run.status);
export const isSettled = (call: View): boolean => SETTLED.has(call.status);

/** Who started the run or call, when the view knows it (the first facts that make a view may not). */
export const ownerOf = (view: View): string | null => (typeof view.principal === 'string' ? view.principal : null);

/** An agent sees its own work; operators and auditors see all of their tenant. */
export const maySee = (caller: Caller, view: View): boolean =>
  seesTenant(caller) || ownerOf(view) === caller.principal.id;

/** For our own use only. */
const INTERNAL = new Set(['tenant', 'requestDigest', 'firstSeen']);

export const publicView = (view: View): View =>
  Object.fromEntries(Object.entries(view).filter(([name]) => !INTERNAL.has(name)));

/** The settlement that a stored call holds; null while it has none, or where only its summary is known. */
export function settlementOfView(call: View): Settlement | null {
  if (!isSettled(call) || call.result === undefined) return null;
  return {
    callId: String(call.callId),
    runId: String(call.runId),
    tool: String(call.tool ?? ''),
    status: TAKEN_BACK.has(call.status) ? 'succeeded' : (call.status as ShownStatus),
    providerCallId: (call.providerCallId as string | null | undefined) ?? undefined,
    replayed: call.replayed === true,
    effect: effectOf(call),
    approvalId: (call.approvalId as string | null | undefined) ?? null,
    error: (call.error as CallError | null | undefined) ?? null,
    result: (call.result as ResultViews | null | undefined) ?? null,
  };
}

function effectOf(call: View): Settlement['effect'] {
  const { effect } = call;
  return effect === 'applied' || effect === 'partial' || effect === 'unknown' ? effect : 'none';
}

/** A call as the API shows it: its result in the one form that settled calls have everywhere. */
export function publicCall(call: View, requestId: string): View {
  const settlement = settlementOfView(call);
  const { error: _error, ...rest } = publicView(call);
  return { ...rest, result: settlement && resultOf(settlement, requestId) };
}

/** A call of a list: without its result. */
export function listedCall(call: View): View {
  const { error: _error, result: _result, ...rest } = publicView(call);
  return rest;
}

/** A list as the API gives it, whether the service answers an array or a page. */
export function asPage(answer: unknown, show: (item: View) => View | null): { items: View[]; next: string | null } {
  const page = (Array.isArray(answer) ? { items: answer } : (answer ?? {})) as { items?: unknown; next?: unknown };
  const items = (Array.isArray(page.items) ? page.items : []) as View[];
  return {
    items: items.map(show).filter((item) => item !== null),
    next: typeof page.next === 'string' ? page.next : null,
  };
}
