import { CountersignError, type Json } from '#kernel';
import { argumentsText } from '../model-text.ts';
import type { ProviderRequest, ResultForModel, TranscriptItem, TurnToAsk } from '../provider.port.ts';
import { lowerTool } from './lower-tool.ts';
import { proposalIdOf } from './proposal-id.ts';

export function openItems(input: string | undefined): TranscriptItem[] {
  if (input === undefined) return [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input.toWellFormed() }] }];
}

/** Call items without an output, by our id of the proposal. */
function openCalls(transcript: readonly TranscriptItem[]): Map<string, string> {
  const open = new Map<string, string>();
  for (const item of transcript) {
    const callId = item.call_id;
    if (typeof callId !== 'string') continue;
    if (item.type === 'function_call') open.set(proposalIdOf(callId), callId);
    else if (item.type === 'function_call_output') open.delete(proposalIdOf(callId));
  }
  return open;
}

/** One output for each open call: the API refuses a history with a call unanswered, answered twice or unknown. */
export function resultItems(
  transcript: readonly TranscriptItem[],
  results: readonly ResultForModel[],
): TranscriptItem[] {
  const open = openCalls(transcript);
  const items: TranscriptItem[] = results.map((result) => {
    const callId = open.get(result.providerCallId);
    if (callId === undefined) throw mismatch('a result names no open proposal', result.providerCallId);
    open.delete(result.providerCallId);
    return { type: 'function_call_output', call_id: callId, output: result.output.toWellFormed() };
  });
  const [missing] = open.keys();
  if (missing !== undefined) throw mismatch('a proposal has no result', missing);
  return items;
}

const mismatch = (what: string, id: string): CountersignError =>
  new CountersignError('INTERNAL', `The results do not fit the transcript: ${what} (${id.slice(0, 80)})`);

/** Stateless: nothing is stored at the provider, so all items go along, reasoning in its encrypted form. */
export function buildRequest(turn: TurnToAsk): ProviderRequest {
  const tools = turn.tools.map(lowerTool);
  const twice = tools.find((tool, index) => tools.findIndex((other) => other.name === tool.name) !== index);
  if (twice) throw new CountersignError('INVALID_ARGS', `Two tools of the toolset have the name ${twice.name}`);
  return {
    model: turn.model,
    instructions: turn.instructions.toWellFormed(),
    input: turn.transcript.map(replayed),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(turn.maxOutputTokens === undefined ? {} : { max_output_tokens: turn.maxOutputTokens }),
    ...(tools.length > 0
      ? { tools, tool_choice: turn.toolChoice ?? 'auto', parallel_tool_calls: turn.parallelToolCalls }
      : {}),
  };
}

/** Items go back unmodified; only arguments that are no JSON text at all (compatible servers) take the documented form. */
function replayed(item: TranscriptItem): TranscriptItem {
  if (item.type !== 'function_call') return item;
  const raw: Json | undefined = item.arguments;
  return typeof raw === 'string' && raw.trim() !== '' ? item : { ...item, arguments: argumentsText(raw) };
}
