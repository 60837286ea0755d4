import type http from 'node:http';
import { createRunner, type DefinedTool, type RunOutcome } from '#tools';
import { json, openHttpToolServer } from '../../libs/tools/testing/http-tool-server.ts';
import { sampleWrite } from '../../libs/tools/testing/sample-contract.ts';
import { sampleRequest } from '../../libs/tools/testing/sample-request.ts';
import { loadCases } from './expand-case.ts';

/** Parts that the runner alone cannot answer, with the reason. */
const LATER: Record<string, string> = {
  'steps at 20 s and 40 s':
    "one key in flight, its replay and the reconciliation are the journal's work: asked of the executor",
  toModel: 'the text of an unknown outcome is made by the orchestrator',
};

/** The upstream of the case: a write that commits long after the runner stopped waiting. */
async function openUpstream(honoursKey: boolean) {
  const server = await openHttpToolServer();
  const jobs: string[] = [];
  const open = new Map<string, string>();
  const waiting: http.ServerResponse[] = [];
  server.answer = (request, response) => {
    const key = honoursKey ? String(request.headers['idempotency-key']) : `${server.seen.length}`;
    if (open.has(key)) {
      if (open.get(key) !== request.body) return json(response, 422, { code: 'KEY_REUSED' });
      return jobs.length > 0 ? json(response, 200, { jobId: jobs[0] }) : json(response, 409, { code: 'IN_PROGRESS' });
    }
    open.set(key, request.body);
    waiting.push(response);
  };
  const commit = (): void => {
    jobs.push('j-1');
    waiting.splice(0).forEach((response) => json(response, 200, { jobId: 'j-1' }));
  };
  return { server, jobs, commit };
}

describe('cases: HTTP tools', () => {
  const [one] = loadCases('http-tool');

  it('every case is asked here or listed with its reason', () => {
    expect(loadCases('http-tool').map((found) => found.id)).toEqual(['B037']);
    expect((one!.given.variants as { name: string }[]).map((variant) => variant.name)).toEqual([
      'no-key',
      'key-honoured',
    ]);
    expect(Object.keys(LATER)).toHaveLength(2);
  });

  const attempt = (runner: ReturnType<typeof createRunner>, tool: DefinedTool, n: number): Promise<RunOutcome> =>
    runner.run(
      sampleRequest(tool, {
        arguments: { name: 'nightly' },
        attempt: n,
        operationKey: 'dev/user:alice/create_job:nightly',
      }),
    );
  const UNKNOWN = {
    kind: 'failed',
    sent: 'maybe_sent',
    noEffect: false,
    error: { code: 'OUTCOME_UNKNOWN', retryable: false },
  };

  it('B037 no-key: a write whose answer did not come in time is OUTCOME_UNKNOWN, sent once, never "failed" or "not done"', async () => {
    const upstream = await openUpstream(false);
    const runner = createRunner();
    const tool = sampleWrite({
      timeoutMs: 1000,
      execution: { kind: 'http', method: 'POST', url: `${upstream.server.url}/jobs` },
    });
    expect(await attempt(runner, tool, 1)).toMatchObject(UNKNOWN);
    upstream.commit();
    expect(upstream.server.seen).toHaveLength(
      (one!.expect.variants as Record<string, { upstreamRequests: number }>)['no-key']!.upstreamRequests,
    );
    runner.close();
    await upstream.server.close();
  });

  it('B037 key-honoured: every request carries the same key; "still working on it" stays unknown; the repeat brings the one result', async () => {
    const upstream = await openUpstream(true);
    const runner = createRunner();
    const idempotency = {
      mode: 'key',
      template: 'create_job:{arg:name}',
      place: { header: 'Idempotency-Key' },
    } as const;
    const tool = sampleWrite({
      timeoutMs: 1000,
      idempotency,
      execution: { kind: 'http', method: 'POST', url: `${upstream.server.url}/jobs` },
    });
    expect(await attempt(runner, tool, 1)).toMatchObject(UNKNOWN);
    expect(await attempt(runner, tool, 2)).toMatchObject(UNKNOWN); // 409 while the first one is open
    upstream.commit();
    expect(await attempt(runner, tool, 3)).toMatchObject({ kind: 'answered', value: { jobId: 'j-1' } });
    expect(new Set(upstream.server.seen.map((seen) => seen.headers['idempotency-key']))).toEqual(
      new Set(['dev/user:alice/create_job:nightly']),
    );
    expect(upstream.jobs).toHaveLength((one!.expect.effects as { create_job: number }).create_job);
    runner.close();
    await upstream.server.close();
  });
});
