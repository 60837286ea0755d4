import type { RunUsage, Usage } from '#contracts';
import { handBackNote } from './hand-back-note.ts';
import { isSettled } from './call-state.ts';
import { withState, type Run, type Used } from './run-state.ts';

export const NOTHING_USED: Used = {
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  costUnknown: false,
  resultBytes: 0,
  contextTokens: 0,
  unsentTurns: 0,
};

/** Few texts have more tokens than this many bytes each; what a request really used is settled after it. */
const BYTES_PER_TOKEN = 3;
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** What the next request will send at least, as far as it can be known before. */
export function nextInputTokens({ definition, state }: Run): number {
  const { agent, input } = definition;
  const opening = state.turns === 0 ? tokensOf(agent?.instructions ?? '') + tokensOf(input ?? '') : 0;
  const note = tokensOf(handBackNote({ definition, state, runNo: null }, state.turns + 1) ?? '');
  const results = state.calls.filter(isSettled).map((call) => tokensOf(call.output ?? ''));
  return state.used.contextTokens + opening + note + results.reduce((sum, tokens) => sum + tokens, 0);
}

/**
 * Settles a turn: the provider's figures, and where it gave none what was reserved or can be seen, never nothing.
 * @param written text that the model wrote, for an answer without figures
 */
export function settleTurn(run: Run, usage: Usage | undefined, written: string): Run {
  const { used } = run.state;
  const input = usage?.inputTokens ?? nextInputTokens(run);
  const output = usage?.outputTokens ?? tokensOf(written);
  const cost = usage?.costUsd ?? null;
  return withState(run, {
    used: {
      ...used,
      inputTokens: used.inputTokens + input,
      outputTokens: used.outputTokens + output,
      costUsd: used.costUsd + (cost ?? 0),
      costUnknown: used.costUnknown || cost === null,
      contextTokens: input + output,
    },
  });
}

/** Nothing was sent, so nothing is charged; but what would have been sent now stands in the transcript. */
export const unsentTurn = (run: Run): Run => {
  const { used } = run.state;
  return withState(run, {
    used: { ...used, contextTokens: nextInputTokens(run), unsentTurns: used.unsentTurns + 1 },
  });
};

export function usageOf({ state: { used } }: Run): RunUsage {
  const { inputTokens, outputTokens, resultBytes } = used;
  return { inputTokens, outputTokens, costUsd: used.costUnknown ? null : used.costUsd, resultBytes };
}
