import { readFileSync } from 'node:fs';
import type { ToolContract } from '#contracts';
import { CountersignError, parseJson, type ErrorDetail } from '#kernel';
import { openAiResponses, type TranscriptItem } from '#providers';
import { compileInput } from '#registry';

interface Expected {
  readonly calls: readonly {
    readonly callId: string;
    readonly outcome: string;
    readonly arguments?: unknown;
    readonly code?: string;
    readonly path?: string;
  }[];
  readonly effects: Readonly<Record<string, number>>;
  readonly toModel: readonly { readonly callId: string; readonly isError: boolean; readonly contains?: string }[];
  readonly run: string;
  readonly never: readonly string[];
}
interface ProviderCase {
  readonly id: string;
  readonly title: string;
  readonly given: {
    readonly wire: string;
    readonly tools: readonly { readonly name: string; readonly input: Record<string, unknown> }[];
    readonly body?: unknown;
  };
  readonly expect: Expected;
}

const file = new URL('../../../../test/cases/provider-openai.jsonl', import.meta.url);
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => parseJson(line) as unknown as ProviderCase);

/** Cases that cannot be asked yet, by wire, with the reason. Their kinds are tried on this wire in parse-answer.spec.ts. */
const NOT_YET: Readonly<Record<string, { readonly reason: string; readonly ids: readonly string[] }>> = {
  'openai.chat.body': {
    reason: 'the Chat Completions adapter is not built yet',
    ids: ['B005', 'B006', 'B007', 'B018'],
  },
  'openai.chat.stream': { reason: 'the Chat Completions adapter is not built yet', ids: ['B009'] },
};

type Judged = { ok: true; arguments: unknown } | { ok: false; code: string; details: readonly ErrorDetail[] };

/** The way of a proposal up to policy: provider answer → strict parser → the tool's own schema. */
function judge({ given }: ProviderCase): {
  kind: string;
  calls: Map<string, { tool: string; judged: Judged }>;
  items: readonly TranscriptItem[];
} {
  const provider = openAiResponses({ apiKey: 'unused' });
  const answer = provider.parse(given.body, { turn: 1, transcript: [] });
  if (answer.kind !== 'answered') return { kind: answer.kind, calls: new Map(), items: [] };
  const judgeOne = (tool: string, text: string): Judged => {
    try {
      const input = given.tools.find((one) => one.name === tool)!.input;
      const checked = compileInput({ input } as unknown as ToolContract).validate(parseJson(text));
      return checked.ok ? checked : { ok: false, code: 'INVALID_ARGS', details: checked.details };
    } catch (error) {
      if (error instanceof CountersignError) return { ok: false, code: error.code, details: error.details };
      throw error;
    }
  };
  const calls = new Map(
    answer.proposals.map((p) => [p.providerCallId, { tool: p.tool, judged: judgeOne(p.tool, p.arguments) }]),
  );
  return { kind: answer.kind, calls, items: answer.items };
}

describe('cases made from public bug reports (provider-openai)', () => {
  for (const one of cases) {
    if (NOT_YET[one.given.wire]?.ids.includes(one.id)) continue;
    it(`${one.title} (${one.id})`, () => {
      expect(one.given.wire).toBe('openai.responses.body');
      const { kind, calls, items } = judge(one);
      const check: { [K in keyof Expected]: (value: Expected[K]) => void } = {
        calls: (expected) => {
          expect([...calls.keys()]).toEqual(expected.map((call) => call.callId));
          for (const call of expected) {
            const { judged } = calls.get(call.callId)!;
            if (call.outcome === 'succeeded' || call.outcome === 'valid')
              expect(judged).toEqual({ ok: true, arguments: call.arguments });
            else expect(judged).toMatchObject({ ok: false, code: call.code });
          }
        },
        effects: (expected) => {
          const valid = [...calls.values()].filter((call) => call.judged.ok).map((call) => call.tool);
          for (const [tool, count] of Object.entries(expected))
            expect(valid.filter((name) => name === tool)).toHaveLength(count);
        },
        toModel: (expected) => {
          for (const { callId, isError, contains } of expected) {
            const { judged } = calls.get(callId)!;
            expect(judged.ok).toBe(!isError);
            expect(JSON.stringify(judged)).toContain(contains ?? '');
          }
        },
        run: (expected) => {
          expect(expected).toBe('continues');
          expect(kind).toBe('answered');
          const results = [...calls.keys()].map((providerCallId) => ({ providerCallId, output: 'r' }));
          expect(openAiResponses({ apiKey: 'unused' }).resultItems(items, results)).toHaveLength(calls.size);
        },
        never: () => undefined, // said by the assertions above: no exception, the run continues
      };
      for (const [key, value] of Object.entries(one.expect)) {
        const assertion = check[key as keyof Expected] as ((value: unknown) => void) | undefined;
        if (!assertion) throw new Error(`${one.id} expects ${key}, which this spec does not know`);
        assertion(value);
      }
    });
  }

  it('each case that is not asked is listed with its reason', () => {
    const listed = Object.entries(NOT_YET).flatMap(([wire, { ids }]) => ids.map((id) => `${id} ${wire}`));
    const unasked = cases.filter((one) => one.given.wire !== 'openai.responses.body');
    expect(unasked.map((one) => `${one.id} ${one.given.wire}`)).toEqual(expect.arrayContaining(listed));
    expect(unasked).toHaveLength(listed.length);
  });
});
