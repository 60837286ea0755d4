import type { Reconcile } from '#contracts';
import { digestText, parsePointer, type Json } from '#kernel';
import { findAt } from '../views/pointer.ts';
import { exchange, type Agents, type Exchange } from './http-exchange.ts';
import { buildProbe, UnsendableRequest } from './http-request.ts';
import { toPlainJson } from './plain-json.ts';
import { readJsonResult } from './read-json-result.ts';
import { HARD_CAP_BYTES, UnreadableResult, type ProbeOutcome, type ProbeRequest } from './runner.port.ts';

/** What a local probe gets beside the arguments of the write. */
export interface ProbeContext {
  readonly signal: AbortSignal;
  readonly operationKey: string;
  readonly callId: string;
  readonly tenant: string;
  readonly env: Readonly<Record<string, string>>;
}
export interface ProbeAnswer {
  readonly outcome: 'applied' | 'not_applied' | 'partly' | 'cannot_tell';
  /** What the write would have returned. */
  readonly result?: unknown;
  /** What was done, where it was done in part. */
  readonly items?: readonly unknown[];
}
export type Probe<A = Readonly<Record<string, unknown>>> = (args: A, context: ProbeContext) => Promise<ProbeAnswer>;

type HttpProbe = NonNullable<Reconcile['http']>;
type Rule = HttpProbe['applied'];

const cannotTell = (evidence: string): ProbeOutcome => ({ kind: 'cannot_tell', evidence });

/** One GET; the contract's mapping says what its answer means. */
export async function probeHttp(
  http: HttpProbe,
  request: ProbeRequest,
  options: { readonly agents: Agents; readonly env: Readonly<Record<string, string>>; readonly capBytes?: number },
): Promise<ProbeOutcome> {
  let built;
  try {
    built = buildProbe(request, http, options.env);
  } catch (error) {
    if (error instanceof UnsendableRequest) return cannotTell(`The probe could not be sent: ${error.message}.`);
    throw error;
  }
  const answer = await exchange(built, {
    agents: options.agents,
    timeoutMs: request.contract.reconcile!.timeoutMs,
    capBytes: options.capBytes ?? HARD_CAP_BYTES,
    signal: request.signal,
  });
  if (answer.kind === 'lost') return cannotTell(`The probe got no answer (${answer.why}).`);
  return classifyProbe(http, answer);
}

type Answer = Extract<Exchange, { kind: 'answer' }>;

/** Exactly one rule must fit. */
export function classifyProbe(http: HttpProbe, answer: Pick<Answer, 'status' | 'body' | 'tooLarge'>): ProbeOutcome {
  const evidence = `The probe answered ${answer.status} (${digestText('probe/v1', answer.body)}).`;
  const body = bodyOf(answer);
  const rules = { applied: http.applied, not_applied: http.notApplied, partly: http.partly } as const;
  const fitting = (Object.keys(rules) as (keyof typeof rules)[]).filter((kind) =>
    fits(rules[kind], answer.status, body),
  );
  const [kind] = fitting;
  if (kind === undefined || fitting.length > 1) {
    return cannotTell(`${evidence} ${kind === undefined ? 'No rule' : 'More than one rule'} of the contract fits it.`);
  }
  if (kind === 'applied') return { kind, evidence, ...resultAt(http.result, body) };
  if (kind === 'partly') return { kind, evidence: `${evidence}${itemsText(http.items, body)}` };
  return { kind, evidence };
}

function bodyOf({ body, tooLarge }: Pick<Answer, 'body' | 'tooLarge'>): Json | undefined {
  if (tooLarge || body.length === 0) return undefined;
  const value = readJsonResult(body);
  return value instanceof UnreadableResult ? undefined : value;
}

function fits(rule: Rule | undefined, status: number, body: Json | undefined): boolean {
  if (!rule) return false;
  if (rule.status ? !rule.status.includes(status) : status < 200 || status > 299) return false;
  if (rule.pointer === undefined) return true;
  if (body === undefined) return false;
  const found = findAt(body, parsePointer(rule.pointer));
  if (found.length !== 1) return false;
  return rule.values === undefined || rule.values.includes(found[0]!.value as string);
}

function resultAt(pointer: string | undefined, body: Json | undefined): { value?: Json; raw?: Buffer } {
  const [found] = pointer === undefined || body === undefined ? [] : findAt(body, parsePointer(pointer));
  return found ? { value: found.value, raw: Buffer.from(JSON.stringify(found.value)) } : {};
}

function itemsText(pointer: string | undefined, body: Json | undefined): string {
  const [found] = pointer === undefined || body === undefined ? [] : findAt(body, parsePointer(pointer));
  return found && Array.isArray(found.value) ? countText(found.value.length) : '';
}

const countText = (count: number): string => ` ${count} ${count === 1 ? 'item was' : 'items were'} applied.`;

/** The tool's own function. What it throws, and what it answers late or in another form, cannot tell. */
export async function probeLocal(
  probe: Probe,
  request: ProbeRequest,
  env: Readonly<Record<string, string>>,
): Promise<ProbeOutcome> {
  const { timeoutMs } = request.contract.reconcile!;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  const { operationKey, callId, tenant } = request;
  const late = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
  try {
    const answering = probe(request.arguments, { signal, operationKey, callId, tenant, env });
    answering.catch(() => undefined);
    const answer = signal.aborted ? null : await Promise.race([answering, late]);
    return answer === null ? cannotTell(`The probe did not answer within ${timeoutMs} ms.`) : localOutcome(answer);
  } catch {
    return cannotTell('The probe failed.');
  }
}

function localOutcome(answer: ProbeAnswer): ProbeOutcome {
  const { outcome, items, result } = (answer as ProbeAnswer | null | undefined) ?? {};
  const evidence = 'The probe of the tool says so.';
  switch (outcome) {
    case 'applied': {
      if (result === undefined) return { kind: outcome, evidence };
      const { value } = toPlainJson(result);
      return { kind: outcome, evidence, value, raw: Buffer.from(JSON.stringify(value)) };
    }
    case 'partly':
      return { kind: outcome, evidence: `${evidence}${Array.isArray(items) ? countText(items.length) : ''}` };
    case 'not_applied':
      return { kind: outcome, evidence };
    case 'cannot_tell':
      return cannotTell('The probe of the tool cannot tell.');
    default:
      return cannotTell('The probe of the tool gave no outcome that is known.');
  }
}
