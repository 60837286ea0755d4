/** A scripted model: a function from what it is asked to what it answers. It keeps no state, so restarts do not matter. */
export type Script = (request: ScriptRequest) => ScriptAnswer | Promise<ScriptAnswer>;
export type ScriptAnswer = readonly ScriptItem[] | ScriptFault;

export interface ScriptRequest {
  /** 1 for the first answer of the transcript. */
  readonly turnNo: number;
  readonly model: string;
  readonly instructions: string | null;
  /** Input items as they came. */
  readonly input: readonly InputItem[];
  /** Texts of the user. */
  readonly userTexts: readonly string[];
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
  /** Outputs of all calls so far, in order. */
  readonly outputs: readonly ScriptOutput[];
  /** How often this very request (same bytes) was asked before, for faults that pass. */
  readonly repeats: number;
}
export type InputItem = Readonly<Record<string, unknown>>;
export interface ScriptOutput {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

/** A message, a call, or any raw item of the wire format. */
export type ScriptItem =
  | { readonly say: string }
  | { readonly refuse: string }
  | { readonly call: string; readonly arguments: unknown; readonly callId?: string | undefined }
  | { readonly raw: Readonly<Record<string, unknown>> };

export type ScriptFault =
  /** An HTTP error in the provider's form. */
  | {
      readonly fault: 'http';
      readonly status: number;
      readonly code?: string;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A response that was cut off; its last item is marked incomplete. */
  | { readonly fault: 'incomplete'; readonly reason: string; readonly items: readonly ScriptItem[] }
  | { readonly fault: 'failed'; readonly code: string }
  /** A body that is sent as it is, with status 200. */
  | { readonly fault: 'body'; readonly text: string }
  /** Answers after `until` is settled, or never. */
  | { readonly fault: 'slow'; readonly until: Promise<unknown>; readonly then: readonly ScriptItem[] }
  /** The connection is cut in the middle of the body. */
  | { readonly fault: 'cut' };

export const say = (text: string): ScriptItem => ({ say: text });
export const refuse = (text: string): ScriptItem => ({ refuse: text });
/** `args`: an object, or the exact text. */
export const call = (tool: string, args: unknown, callId?: string): ScriptItem => ({
  call: tool,
  arguments: args,
  callId,
});
export const raw = (item: Readonly<Record<string, unknown>>): ScriptItem => ({ raw: item });

export const rateLimited = (retryAfterSeconds: number): ScriptFault => ({
  fault: 'http',
  status: 429,
  code: 'rate_limit_exceeded',
  headers: { 'retry-after': String(retryAfterSeconds) },
});
export const quotaUsedUp = (): ScriptFault => ({
  fault: 'http',
  status: 429,
  code: 'insufficient_quota',
  type: 'insufficient_quota',
});
export const serverError = (status = 500): ScriptFault => ({ fault: 'http', status, code: 'server_error' });

/** The text that a tool answered last in this transcript, or null. */
export function outputOf(request: ScriptRequest, tool: string): string | null {
  return request.outputs.findLast((output) => output.name === tool)?.text ?? null;
}

export function scriptRequest(body: Readonly<Record<string, unknown>>, repeats: number): ScriptRequest {
  const input = inputItems(body.input);
  const names = new Map(
    input.filter((i) => i.type === 'function_call').map((i) => [String(i.call_id), String(i.name)]),
  );
  return {
    turnNo: 1 + input.filter((item, index) => isModelItem(item) && !isModelItem(input[index - 1])).length,
    model: String(body.model),
    instructions: typeof body.instructions === 'string' ? body.instructions : null,
    input,
    userTexts: input.filter((item) => item.role === 'user').map((item) => textOf(item.content)),
    tools: (Array.isArray(body.tools) ? (body.tools as InputItem[]) : []).map((tool) => String(tool.name)),
    outputs: input
      .filter((item) => item.type === 'function_call_output')
      .map((item) => ({
        callId: String(item.call_id),
        name: names.get(String(item.call_id)) ?? '',
        text: textOf(item.output),
      })),
    repeats,
  };
}

export function inputItems(input: unknown): InputItem[] {
  return typeof input === 'string'
    ? [{ type: 'message', role: 'user', content: input }]
    : ((input ?? []) as InputItem[]);
}

/** Written by the model: one run of such items is one answer. */
const isModelItem = (item: InputItem | undefined): boolean =>
  item !== undefined && (item.type === 'reasoning' || item.type === 'function_call' || item.role === 'assistant');

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => String((part as InputItem).text ?? '')).join('') : '';
}
