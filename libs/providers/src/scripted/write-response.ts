import { randomBytes } from 'node:crypto';
import { encryptedReasoning } from './check-request.ts';
import type { ScriptItem } from './script.ts';

type Wire = Record<string, unknown>;

const freshId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;

export interface ResponseParts {
  readonly request: Readonly<Wire>;
  readonly output: readonly Wire[];
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly incompleteReason?: string;
  readonly errorCode?: string;
}

/** A reasoning item, sealed when the request asks for it, as a reasoning model would write before it acts. */
export function reasoningItem(request: Readonly<Wire>): Wire {
  const id = freshId('rs');
  const sealed = Array.isArray(request.include) && request.include.includes('reasoning.encrypted_content');
  return { id, type: 'reasoning', summary: [], ...(sealed ? { encrypted_content: encryptedReasoning(id) } : {}) };
}

export function outputItem(item: ScriptItem, status: 'completed' | 'incomplete' = 'completed'): Wire {
  if ('raw' in item) return { ...item.raw };
  if ('call' in item) {
    const args = typeof item.arguments === 'string' ? item.arguments : JSON.stringify(item.arguments);
    return {
      id: freshId('fc'),
      type: 'function_call',
      status,
      arguments: args,
      call_id: item.callId ?? freshId('call'),
      name: item.call,
    };
  }
  const part =
    'say' in item
      ? { type: 'output_text', annotations: [], logprobs: [], text: item.say }
      : { type: 'refusal', refusal: item.refuse };
  return { id: freshId('msg'), type: 'message', status, role: 'assistant', content: [part] };
}

/** The envelope of the real API. Tokens are a rough count of the bytes, so that usage adds up. */
export function responseBody(parts: ResponseParts): Wire {
  const { request } = parts;
  const input = Math.ceil(JSON.stringify(request).length / 4);
  const output = Math.ceil(JSON.stringify(parts.output).length / 4);
  return {
    id: freshId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: parts.status,
    background: false,
    error: parts.errorCode === undefined ? null : { code: parts.errorCode, message: 'The scripted model failed.' },
    incomplete_details: parts.incompleteReason === undefined ? null : { reason: parts.incompleteReason },
    instructions: request.instructions ?? null,
    max_output_tokens: null,
    metadata: {},
    model: request.model,
    output: parts.output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: request.store ?? true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage:
      parts.status === 'failed'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + output,
          },
  };
}
