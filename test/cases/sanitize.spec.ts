import type { ResultViews } from '#contracts';
import {
  createRunner,
  defineTool,
  makeViews,
  toPlainJson,
  UnreadableResult,
  type DefinedTool,
  type Handler,
  type RunOutcome,
  type ToolInput,
} from '#tools';
import { openHttpToolServer, type HttpToolServer } from '../../libs/tools/testing/http-tool-server.ts';
import { sampleRequest } from '../../libs/tools/testing/sample-request.ts';
import { loadCases, type Case } from './expand-case.ts';

/** Cases or parts of them that no part can be asked yet, with the reason. */
const LATER: Record<string, string> = {
  B068: 'arguments and bus records are asked of their own parts; the MCP frame needs the MCP runner (its rule is asked below over HTTP)',
  'B032/bi1': 'needs the MCP runner (its rule is asked below over HTTP)',
  'B036/bg1': 'needs the MCP runner (its rule is asked below with a local tool)',
  'B036/bg3': 'needs the MCP runner (its rule is asked below with a thrown error)',
};

interface Outcome {
  callId: string;
  tool: string;
  return?: unknown;
  throw?: unknown;
  httpBody?: string;
}
interface ToModel {
  callId: string;
  isError?: boolean;
  contains?: string;
  maxBytes?: number;
  truncated?: boolean;
  statesOmittedBytes?: boolean;
  code?: string;
}
interface Answer {
  readonly outcome: RunOutcome;
  readonly views: ResultViews | null;
  /** What the model would read. */
  readonly text: string;
  readonly isError: boolean;
}

const { cases, server } = {
  cases: new Map(loadCases('sanitize').map((one) => [one.id, one])),
  server: {} as { at: HttpToolServer },
};
const given = (id: string): Case => cases.get(id)!;

async function answer(one: Case, outcome: Outcome): Promise<Answer> {
  const declared = (
    one.given.tools as { name: string; layer: 'read' | 'write'; input: Record<string, unknown>; execution?: string }[]
  ).find((tool) => tool.name === outcome.tool)!;
  const config = (one.given.config ?? {}) as { maxResultBytes?: number; hardCapBytes?: number };
  const secrets = (one.given.secrets ?? []) as string[];
  const handler: Handler = () =>
    'throw' in outcome ? Promise.reject(outcome.throw as Error) : Promise.resolve(outcome.return);
  const tool = defineTool(
    {
      namespace: 'probe',
      version: '1.0.0',
      name: declared.name,
      layer: declared.layer,
      title: 'T',
      description: 'D',
      whenToUse: 'U',
      whenNotToUse: 'N',
      input: declared.input,
      output: {},
      sideEffects: declared.layer === 'read' ? 'none' : 'reversible',
      noUndoReason: 'a test',
      idempotency: { mode: declared.layer === 'read' ? 'natural' : 'none' },
      execution:
        declared.execution === 'http' ? { kind: 'http', method: 'GET', url: server.at.url } : { kind: 'local' },
      ...(config.maxResultBytes ? { result: { maxBytes: config.maxResultBytes } } : {}),
    } as ToolInput<Record<string, unknown>>,
    declared.execution === 'http' ? undefined : handler,
  );
  const runner = createRunner({
    handlers: new Map([[tool.digest, handler]]),
    secrets,
    ...(config.hardCapBytes ? { capBytes: config.hardCapBytes } : {}),
  });
  const ran = await runner.run(sampleRequest(tool));
  runner.close();
  return shown(tool, ran, secrets);
}

function shown(tool: DefinedTool, outcome: RunOutcome, secrets: readonly string[]): Answer {
  if (outcome.kind === 'failed') return { outcome, views: null, text: JSON.stringify(outcome.error), isError: true };
  const views = makeViews(tool.contract, outcome.value, outcome.raw, {
    callId: 'call',
    tool: 'probe.tool@1.0.0',
    tenant: 'dev',
    secrets,
  });
  return { outcome, views, text: views.model, isError: views.fault !== null };
}

const KNOWN_TO_MODEL = new Set([
  'callId',
  'isError',
  'contains',
  'maxBytes',
  'truncated',
  'statesOmittedBytes',
  'code',
]);

function checkToModel(found: Answer, wanted: ToModel): void {
  for (const key of Object.keys(wanted))
    if (!KNOWN_TO_MODEL.has(key)) throw new Error(`this spec does not know toModel.${key}`);
  expect(found.isError).toBe(wanted.isError);
  // Both ways of quoting: the text for the model is JSON.
  if (wanted.contains !== undefined) expect(found.text).toContain(wanted.contains);
  if (wanted.maxBytes !== undefined) expect(Buffer.byteLength(found.text)).toBeLessThanOrEqual(wanted.maxBytes);
  if (wanted.truncated) expect(found.views!.truncated).not.toBeNull();
  if (wanted.statesOmittedBytes) expect(found.text).toMatch(/bytes left out/);
  if (wanted.code !== undefined) expect(found.views!.fault!.code).toBe(wanted.code);
}

describe('cases: results and failures of tools', () => {
  beforeAll(async () => {
    server.at = await openHttpToolServer();
  });
  afterAll(() => server.at.close());

  it('every case is asked here or listed with its reason', () => {
    expect([...cases.keys()].sort()).toEqual(['B030', 'B032', 'B033', 'B036', 'B068']);
    expect(Object.values(LATER).every((reason) => reason.length > 20)).toBe(true);
  });

  it('B030: whatever a tool throws becomes a failed call with a readable, bounded and redacted text', async () => {
    const one = given('B030');
    const answers = new Map<string, Answer>();
    for (const outcome of one.given.outcomes as Outcome[]) answers.set(outcome.callId, await answer(one, outcome));
    for (const { callId, outcome, code } of one.expect.calls as { callId: string; outcome: string; code: string }[]) {
      expect(answers.get(callId)!.outcome).toMatchObject({
        kind: outcome,
        sent: 'answered',
        noEffect: true,
        error: { code },
      });
    }
    for (const wanted of one.expect.toModel as ToModel[]) checkToModel(answers.get(wanted.callId)!, wanted);
    const all = JSON.stringify([...answers.values()]);
    for (const text of one.expect.neverText as string[]) expect(all).not.toContain(text);
    expect(all).not.toMatch(/ at .*:\d+:\d+/);
  });

  it('B032: integers beyond 2^53 keep their digits, and nothing crashes on BigInt', async () => {
    const one = given('B032');
    const outcomes = (one.given.outcomes as Outcome[]).filter(({ callId }) => !LATER[`B032/${callId}`]);
    const answers = new Map<string, Answer>();
    for (const outcome of outcomes) answers.set(outcome.callId, await answer(one, outcome));
    for (const wanted of (one.expect.toModel as ToModel[]).filter(({ callId }) => answers.has(callId)))
      checkToModel(answers.get(wanted.callId)!, wanted);
    for (const { callId, contains } of (one.expect.journal as { callId: string; contains: string }[]).filter(
      ({ callId: id }) => answers.has(id),
    )) {
      expect((answers.get(callId)!.outcome as { raw: Buffer }).raw.toString()).toContain(contains);
    }
    const overHttp = given('B036').given.tools as { name: string }[];
    server.at.answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"total":9223372036854775807}');
    const http = await answer(
      { ...one, given: { ...one.given, tools: overHttp } },
      { callId: 'own', tool: 'dump_http' },
    );
    expect(http.text).toContain('9223372036854775807');
    const all = JSON.stringify([...answers.values(), http].map(({ views, text }) => ({ views, text })));
    for (const text of one.expect.neverText as string[]) expect(all).not.toContain(text);
  });

  it('B033: a result that cannot be serialised is still recorded as done, with placeholders, and the effect is not repeated', async () => {
    const one = given('B033');
    const answers = new Map<string, Answer>();
    for (const outcome of one.given.outcomes as Outcome[]) answers.set(outcome.callId, await answer(one, outcome));
    for (const { callId } of one.expect.calls as { callId: string }[])
      expect(answers.get(callId)!.outcome.kind).toBe('answered');
    for (const wanted of one.expect.toModel as ToModel[]) checkToModel(answers.get(wanted.callId)!, wanted);
    expect(toPlainJson((one.given.outcomes as Outcome[])[0]!.return).replaced).toBeGreaterThan(0);
    expect(answers.get('ci2')!.text).toContain('"twice":[{"a":1},{"a":1}]');
    const all = JSON.stringify([...answers.values()].map(({ views, text }) => ({ views, text })));
    for (const text of one.expect.neverText as string[]) expect(all).not.toContain(text);
  });

  it('B036: a huge result reaches the model cut within the limit, with a note of what was left out; the whole is kept as the raw view', async () => {
    const one = given('B036');
    const outcomes = new Map(
      (one.given.outcomes as (Outcome & { mcpResult?: { content: { text: string }[] } })[]).map((outcome) => [
        outcome.callId,
        outcome,
      ]),
    );
    const wanted = new Map((one.expect.toModel as ToModel[]).map((entry) => [entry.callId, entry]));

    const local = await answer(one, outcomes.get('bg2')!);
    checkToModel(local, wanted.get('bg2')!);
    expect(JSON.parse((local.outcome as { raw: Buffer }).raw.toString())).toEqual(outcomes.get('bg2')!.return);

    server.at.answer = (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(outcomes.get('bg4')!.httpBody));
    const before = server.at.seen.length;
    const http = await answer(one, outcomes.get('bg4')!);
    checkToModel(http, wanted.get('bg4')!);
    expect((http.outcome as { value: unknown }).value).toBeInstanceOf(UnreadableResult);
    expect((http.outcome as { raw: Buffer }).raw.length).toBeLessThanOrEqual(
      (one.expect.bytesBuffered as { bg4: { max: number } }).bg4.max,
    );
    expect(server.at.seen.length - before).toBe(1);

    const text = outcomes
      .get('bg1')!
      .mcpResult!.content.map((part) => (part as { text: unknown }).text)
      .join('');
    const asLocal = await answer(one, { callId: 'own', tool: 'dump_local', return: text });
    checkToModel(asLocal, wanted.get('bg1')!);
    expect(asLocal.text).toContain('last line');
    const thrown = await answer(one, {
      callId: 'own',
      tool: 'dump_local',
      throw: new Error('error é '.repeat(100_000)),
    });
    checkToModel(thrown, wanted.get('bg3')!);
    for (const found of [local, http, asLocal, thrown])
      for (const never of one.expect.neverText as string[]) expect(found.text).not.toContain(never);
  });

  it('B068 (the part of results): keys that can change prototypes are dropped, and prototypes stay clean', async () => {
    const one = given('B068');
    const tools = [{ ...(one.given.tools as object[])[0], execution: 'http' }];
    server.at.answer = (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"safe":"v","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    const found = await answer({ ...one, given: { ...one.given, tools } }, { callId: 'own', tool: 'get_profile' });
    expect(found.text).toContain('"safe":"v"');
    expect(found.text).not.toContain('polluted');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
