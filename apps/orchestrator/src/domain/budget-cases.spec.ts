import type { ToolContractInput } from '#contracts';
import { digestText } from '#kernel';
import { loadCases } from '../../../../test/cases/expand-case.ts';
import { BUDGETS, failedData, settledData, toolsOf } from '../../testing/fixtures.ts';
import { Scene } from '../../testing/scene.ts';
import { isSettled } from './call-state.ts';
import { isEnded, isResumable } from './run-state.ts';

interface Step {
  readonly callId: string;
  readonly tool: string;
  readonly argumentsText: string;
  readonly ifDispatchedThrow?: string;
  readonly ifDispatchedReturn?: unknown;
}
interface Given {
  readonly config: { readonly maxRepeats: number };
  readonly tools: readonly Pick<ToolContractInput, 'name' | 'layer' | 'input'>[];
  readonly variants: readonly { readonly name: string; readonly steps: readonly Step[] }[];
}
interface Expected {
  readonly dispatched: readonly string[];
  readonly refused?: readonly { readonly callId: string; readonly code: string }[];
  readonly neverReached?: readonly string[];
  readonly runAnyOf?: readonly string[];
}

const repetition = loadCases('budget').find(({ id }) => id === 'B051')!;
const given = repetition.given as unknown as Given;
const expected = repetition.expect.variants as Record<string, Expected>;

/** Plays the turns until the run ends: the case's ids are the provider's. Failures of the tool are no limit of this case. */
function play(steps: readonly Step[]): Scene {
  const { toolset, shelf } = toolsOf(given.tools);
  const scene = new Scene(shelf);
  scene.start('agent', { toolset, budgets: { ...BUDGETS, maxRepeats: given.config.maxRepeats, maxToolFailures: 100 } });
  for (const [index, step] of steps.entries()) {
    if (isEnded(scene.run!)) break;
    const proposal = { tool: `ops__${step.tool}`, arguments: step.argumentsText, providerCallId: step.callId };
    const usage = { inputTokens: 1, outputTokens: 1 };
    scene.say('TurnCompleted', { turn: index + 1, proposals: [proposal], text: null, responseId: null, usage });
    const call = scene.run!.state.calls.at(-1)!;
    if (isSettled(call)) continue;
    const text = JSON.stringify(step.ifDispatchedReturn ?? null);
    const answered = settledData().result!;
    if (step.ifDispatchedThrow === undefined)
      scene.settle(call.callId, {
        result: {
          ...answered,
          sanitizedDigest: digestText('case/v1', text),
          modelDigest: digestText('m', call.callId),
        },
      });
    else {
      const error = { code: 'TOOL_ERROR' as const, message: step.ifDispatchedThrow, retryable: false };
      scene.settle(call.callId, { ...failedData('failed'), error });
    }
  }
  return scene;
}

describe(`${repetition.id}: ${repetition.title} (G8)`, () => {
  it.each(given.variants)('$name', ({ name, steps }) => {
    const { dispatched, refused = [], neverReached = [], runAnyOf } = expected[name]!;
    const scene = play(steps);
    const { calls } = scene.run!.state;
    const proposed = new Set(scene.all('CallProposed').map(({ callId }) => callId));
    const ids = (some: typeof calls) => some.map(({ providerCallId }) => providerCallId);
    expect(ids(calls.filter(({ callId }) => proposed.has(callId)))).toEqual(dispatched);
    const others = calls.filter(isSettled).filter(({ callId }) => !proposed.has(callId));
    expect(others.map(({ providerCallId, errorCode }) => ({ callId: providerCallId, code: errorCode }))).toEqual(
      refused,
    );
    expect(ids(calls).filter((id) => neverReached.includes(id!))).toEqual([]);
    expect(calls.every(isSettled)).toBe(true);
    if (!runAnyOf) return expect(isEnded(scene.run!)).toBe(false);
    const { status, cause } = scene.all('RunEnded')[0]!.data;
    expect(runAnyOf).toContain(status);
    expect(cause).toMatchObject({ code: 'REPEATED_CALL', limit: 'maxRepeats' });
    expect(isResumable(scene.run!)).toBe(true);
  });
});
