import type { CallError, ResultViews, ToolContract } from '#contracts';
import { digestJson, digestText, parsePointer, type ErrorDetail, type Json } from '#kernel';
import { callError } from '../call-error.ts';
import { UnreadableResult } from '../runners/runner.port.ts';
import { allowedFields, allowList } from './allow-list.view.ts';
import { byteLength } from './cut-text.ts';
import { evidenceOf, NO_EVIDENCE, resourceIdsOf } from './evidence.view.ts';
import { label, labelBytes, NOTICE_BYTES, noticeOf } from './label.view.ts';
import { limit } from './limit.view.ts';
import type { Segments } from './pointer.ts';
import { redactDeclared, redactFound } from './redact.view.ts';
import { outputCheck, type OutputCheck } from './validate.view.ts';

/**
 * Three linked views of one result (G10): raw bytes → sanitized (checked, allowed, redacted, bounded) → the text for
 * the model (labelled). It cannot throw: a fault of a view never undoes or repeats an effect.
 */
export interface ViewContext {
  readonly callId: string;
  /** `ns.name@version`. */
  readonly tool: string;
  readonly tenant: string;
  /** Values that must never stand in a view. */
  readonly secrets?: readonly string[];
}

/** Both views travel in one message: more than this is cut, whatever the contract says. */
const MAX_VIEW_BYTES = 262_144;
interface Plan {
  readonly check: OutputCheck;
  readonly allowed: ReadonlySet<string> | null;
  readonly redact: readonly Segments[];
  readonly sourceIds: Segments | null;
  readonly resourceId: Segments | null;
  readonly maxBytes: number;
  readonly maxItems: number | undefined;
}

const plans = new WeakMap<ToolContract, Plan>();

export function makeViews(contract: ToolContract, value: unknown, raw: Uint8Array, context: ViewContext): ResultViews {
  const rawDigest = digestText('raw/v1', raw);
  if (value instanceof UnreadableResult) return faulty(rawDigest, callError(value.code, value.message), []);
  try {
    return viewsOf(planOf(contract), value as Json, rawDigest, raw.byteLength, context);
  } catch {
    return faulty(
      rawDigest,
      callError('INVALID_RESULT', 'the result could not be made into a view; its raw form is kept'),
      [],
    );
  }
}

function planOf(contract: ToolContract): Plan {
  let plan = plans.get(contract);
  if (!plan) {
    const { redact, sourceIds, resourceId, maxBytes, maxItems } = contract.result;
    plan = {
      check: outputCheck(contract),
      allowed: allowedFields(contract),
      redact: redact.map(parsePointer),
      sourceIds: sourceIds === undefined ? null : parsePointer(sourceIds),
      resourceId: resourceId === undefined ? null : parsePointer(resourceId),
      maxBytes: Math.min(maxBytes, MAX_VIEW_BYTES),
      maxItems,
    };
    plans.set(contract, plan);
  }
  return plan;
}

function viewsOf(plan: Plan, value: Json, rawDigest: string, rawBytes: number, context: ViewContext): ResultViews {
  const details = plan.check(value);
  if (details.length > 0) return invalid(plan, value, rawDigest, details);
  const declared = redactDeclared(allowList(value, plan.allowed), plan.redact);
  const found = redactFound(declared.value, JSON.stringify(declared.value), context.secrets ?? []);
  const text = JSON.stringify(found.value);
  const { limited, model } = fit(plan, found.value, text, rawBytes, context);
  return {
    rawDigest,
    sanitizedDigest: digestJson('sanitized/v1', limited.value),
    modelDigest: digestText('model/v1', model),
    sanitized: limited.value,
    model,
    truncated: limited.left === null ? null : { reason: limited.left, originalBytes: rawBytes },
    redactions: declared.count + found.count,
    evidence: evidenceOf(limited.value, plan.sourceIds, plan.resourceId),
    fault: null,
  };
}

/** Both views within the limit, the label and the notice counted in. */
function fit(
  plan: Plan,
  value: Json,
  text: string,
  rawBytes: number,
  context: ViewContext,
): { limited: ReturnType<typeof limit>; model: string } {
  const inside = Math.max(0, plan.maxBytes - labelBytes(context));
  const whole = limit(value, text, inside, plan.maxItems);
  let limited = whole;
  let model = label(whole.text, context, whole.left === null ? null : noticeOf(whole.left, rawBytes));
  let room = inside > NOTICE_BYTES ? inside - NOTICE_BYTES : Math.floor(inside / 2);
  for (let done = false; byteLength(model) > plan.maxBytes && !done; room = Math.floor(room * 0.75)) {
    done = room === 0; // nothing but the label and the notice is left
    limited = limit(value, text, room, plan.maxItems); // escapes of the label need more room than plain JSON
    model = label(limited.text, context, limited.left === null ? null : noticeOf(limited.left, rawBytes));
  }
  return { limited, model };
}

function invalid(plan: Plan, value: Json, rawDigest: string, details: readonly ErrorDetail[]): ResultViews {
  const message = 'the tool did its work, but its answer does not fit the output schema of the contract';
  const ids = plan.resourceId === null ? [] : resourceIdsOf(value, plan.resourceId);
  return faulty(rawDigest, callError('INVALID_RESULT', message, { details }), ids);
}

/** The model is told which fault it is, never a paraphrase of what was withheld. */
function faulty(rawDigest: string, fault: CallError, resourceIds: readonly string[]): ResultViews {
  const model = JSON.stringify({
    ok: false,
    error: { code: fault.code, message: fault.message },
    note: 'The call itself succeeded. Do not repeat it.',
  });
  return {
    rawDigest,
    sanitizedDigest: digestJson('sanitized/v1', null),
    modelDigest: digestText('model/v1', model),
    sanitized: null,
    model,
    truncated: null,
    redactions: 0,
    evidence: { ...NO_EVIDENCE, resourceIds: [...resourceIds] },
    fault,
  };
}
