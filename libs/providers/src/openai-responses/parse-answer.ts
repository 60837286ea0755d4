import type { ErrorCode, Json } from '#kernel';
import { argumentsText, isPlain, plainText } from '../model-text.ts';
import type { ParseContext, ProposalOfModel, TokenUsage, TranscriptItem, TurnAnswer } from '../provider.port.ts';
import { proposalIdOf } from './proposal-id.ts';

/** Longest tool name that a message carries; a longer one is unknown in any case. */
const MAX_NAME = 256;

class Unusable {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  constructor(code: ErrorCode, message: string, retryable = false) {
    this.code = code;
    this.message = message;
    this.retryable = retryable;
  }
}

/** Reads one answer of the Responses API. Total: whatever the bytes were, the answer is a value (P3). */
export function parseAnswer(answer: unknown, context: ParseContext): TurnAnswer {
  const usage = usageOf(answer);
  const read = readAnswer(answer, context);
  if (read instanceof Unusable)
    return { kind: 'unusable', code: read.code, message: read.message, retryable: read.retryable, usage };
  return { kind: 'answered', ...read, usage };
}

type Read = Pick<Extract<TurnAnswer, { kind: 'answered' }>, 'items' | 'proposals' | 'text' | 'responseId'>;

function readAnswer(answer: unknown, context: ParseContext): Read | Unusable {
  if (!isRecord(answer))
    return new Unusable('MODEL_PROTOCOL', 'The provider answered with something that is no response object');
  const ending = badEnding(answer);
  if (ending) return ending;
  if (!Array.isArray(answer.output)) return new Unusable('MODEL_PROTOCOL', 'The response has no list of output items');
  const items: TranscriptItem[] = [];
  const proposals: ProposalOfModel[] = [];
  const texts: { text: string; final: boolean }[] = [];
  const used = new Set(context.transcript.flatMap((item) => (typeof item.call_id === 'string' ? [item.call_id] : [])));
  for (const item of answer.output as unknown[]) {
    if (!isRecord(item) || typeof item.type !== 'string')
      return new Unusable('MODEL_PROTOCOL', 'An output item has no type');
    switch (item.type) {
      case 'reasoning':
        items.push(item);
        break;
      case 'message': {
        const text = messageText(item);
        if (text instanceof Unusable) return text;
        if (text !== '') texts.push({ text, final: item.phase === 'final_answer' });
        items.push(item);
        break;
      }
      case 'function_call': {
        const call = readCall(item, used, `call_t${context.turn}_${proposals.length + 1}`);
        if (call instanceof Unusable) return call;
        items.push(call.item);
        proposals.push(call.proposal);
        break;
      }
      default:
        return new Unusable(
          'MODEL_PROTOCOL',
          `The model answered with an item of type ${shown(item.type)}, which was not offered and is not carried out here; nothing of this answer was executed`,
        );
    }
  }
  return {
    items,
    proposals,
    text: joined(texts, proposals.length > 0),
    responseId: typeof answer.id === 'string' ? plainText(answer.id) : null,
  };
}

/** Only a response that says it is complete may lead to anything. */
function badEnding(answer: Record<string, Json>): Unusable | null {
  switch (answer.status) {
    case 'completed':
      return null;
    case 'incomplete': {
      const reason = isRecord(answer.incomplete_details) ? answer.incomplete_details.reason : undefined;
      if (reason === 'content_filter')
        return new Unusable('MODEL_REFUSED', 'The provider cut the answer off by its content filter');
      return new Unusable(
        'MODEL_TRUNCATED',
        `The answer was cut off (${shown(reason ?? 'no reason given')}); nothing of it was executed`,
      );
    }
    case 'failed': {
      const code = isRecord(answer.error) ? answer.error.code : undefined;
      return new Unusable(
        typeof code === 'string' && code.includes('policy') ? 'MODEL_REFUSED' : 'MODEL_UNAVAILABLE',
        `The provider reports a failed response (${shown(code ?? 'no code given')})`,
        code === 'server_error' || code === 'rate_limit_exceeded' || code === 'vector_store_timeout',
      );
    }
    case 'cancelled':
      return new Unusable('MODEL_UNAVAILABLE', 'The response was cancelled at the provider');
    default:
      return new Unusable('MODEL_PROTOCOL', `The response has the status ${shown(answer.status)}, not completed`);
  }
}

function messageText(item: Record<string, Json>): string | Unusable {
  if (typeof item.status === 'string' && item.status !== 'completed') {
    return new Unusable(
      'MODEL_TRUNCATED',
      'A message of the answer is not complete; nothing of the answer was executed',
    );
  }
  if (typeof item.content === 'string') return item.content;
  if (!Array.isArray(item.content)) return new Unusable('MODEL_PROTOCOL', 'A message of the answer has no content');
  const parts: string[] = [];
  for (const part of item.content) {
    if (!isRecord(part)) continue;
    if (part.type === 'refusal')
      return new Unusable('MODEL_REFUSED', 'The model refused; nothing of its answer was executed');
    if (part.type === 'output_text' && typeof part.text === 'string') parts.push(part.text);
  }
  return parts.join('');
}

/** With an explicit final answer, commentary is left out of the text of a last turn. */
function joined(texts: readonly { text: string; final: boolean }[], withCalls: boolean): string | null {
  const finals = texts.filter((entry) => entry.final);
  const shownTexts = !withCalls && finals.length > 0 ? finals : texts;
  return shownTexts.length === 0 ? null : shownTexts.map((entry) => plainText(entry.text)).join('\n\n');
}

function readCall(
  item: Record<string, Json>,
  used: Set<string>,
  ownId: string,
): { item: TranscriptItem; proposal: ProposalOfModel } | Unusable {
  if (typeof item.status === 'string' && item.status !== 'completed') {
    return new Unusable('MODEL_TRUNCATED', 'A call of the answer is not complete; nothing of the answer was executed');
  }
  if (isRecord(item.caller) && item.caller.type !== 'direct') {
    return new Unusable(
      'MODEL_PROTOCOL',
      'A program of the model asked for a call; only direct calls are offered, and nothing was executed',
    );
  }
  if (typeof item.name !== 'string' || item.name === '')
    return new Unusable('MODEL_PROTOCOL', 'A call of the answer names no tool');
  const given = typeof item.call_id === 'string' && item.call_id !== '' && isPlain(item.call_id) ? item.call_id : null;
  const callId = unusedId(given, used, ownId);
  used.add(callId);
  // A foreign namespace makes another tool of it: the slash stands in no name of ours.
  const name =
    typeof item.namespace === 'string' && item.namespace !== '' ? `${item.namespace}/${item.name}` : item.name;
  return {
    item: callId === item.call_id ? item : { ...item, call_id: callId },
    proposal: {
      providerCallId: proposalIdOf(callId),
      tool: plainText(name.slice(0, MAX_NAME)),
      arguments: argumentsText(item.arguments),
    },
  };
}

/** An id that is missing or already stands in the transcript (compatible servers) is replaced in the call, and so in its output (P4). */
function unusedId(given: string | null, used: ReadonlySet<string>, ownId: string): string {
  if (given !== null && !used.has(given)) return given;
  let candidate = ownId;
  for (let n = 2; used.has(candidate); n++) candidate = `${ownId}_${n}`;
  return candidate;
}

function usageOf(answer: unknown): TokenUsage {
  const usage = isRecord(answer) && isRecord(answer.usage) ? answer.usage : {};
  const count = (value: Json | undefined): number | null =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
  return { inputTokens: count(usage.input_tokens), outputTokens: count(usage.output_tokens) };
}

const isRecord = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** A word of the provider's protocol, safe to show. */
const shown = (value: unknown): string =>
  JSON.stringify(typeof value === 'string' ? plainText(value.slice(0, 64)) : (value ?? null)).slice(0, 80);
