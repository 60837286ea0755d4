import { createRunner, ToolFailure, type DefinedTool, type Handler, type RunOutcome, type RunRequest } from '#tools';
import { sampleRead, sampleWrite } from '../../testing/sample-contract.ts';
import { sampleRequest } from '../../testing/sample-request.ts';

const run = (tool: DefinedTool, changes: Partial<RunRequest> = {}): Promise<RunOutcome> =>
  createRunner({
    handlers: new Map([[tool.digest, tool.handler!]]),
    env: { TEAM: 'ops' },
    secrets: ['tok-5f3a9c'],
  }).run(sampleRequest(tool, changes));
const throws =
  (thrown: unknown): Handler =>
  () =>
    Promise.reject(thrown as Error);

describe('the local runner', () => {
  it('gives the handler its arguments, key, fence and only the settings that are allowed', async () => {
    let got: unknown[] = [];
    const key = { mode: 'key', template: '{task}', place: { argument: 'request_id' } } as const;
    const tool = sampleWrite({ idempotency: key }, async (...args) => void (got = args));
    expect(await run(tool, { arguments: { a: 1 }, fence: { r: 3 } })).toMatchObject({ kind: 'answered', value: null });
    expect(got[0]).toEqual({ a: 1, request_id: 'dev/user:alice/sample' });
    expect(got[1]).toMatchObject({
      operationKey: 'dev/user:alice/sample',
      tenant: 'dev',
      attempt: 1,
      env: { TEAM: 'ops' },
      fence: { r: 3 },
    });
  });

  it('a write that throws is unknown, unless the tool vouches that nothing was changed (G5, G9)', async () => {
    expect(await run(sampleWrite({}, throws(new Error('boom'))))).toMatchObject({
      sent: 'maybe_sent',
      noEffect: false,
      error: { code: 'OUTCOME_UNKNOWN', message: 'the tool failed: boom' },
    });
    expect(await run(sampleWrite({}, throws(new ToolFailure('closed', { noEffect: true }))))).toMatchObject({
      sent: 'answered',
      noEffect: true,
      error: { code: 'TOOL_ERROR', message: 'closed' },
    });
    const errors = [{ when: 'E_CLOSED', code: 'NOT_FOUND', meaning: 'Closed.', noEffect: true }] as const;
    expect(
      await run(sampleWrite({ errors: [...errors] }, throws(new ToolFailure('x', { code: 'E_CLOSED' })))),
    ).toMatchObject({ sent: 'answered', error: { code: 'NOT_FOUND' } });
  });

  it('a read that throws is a failed call', async () => {
    expect(await run(sampleRead({}, throws(new Error('boom'))))).toMatchObject({
      sent: 'answered',
      noEffect: true,
      error: { code: 'TOOL_ERROR', message: 'boom' },
    });
  });

  it('a handler that throws before it returns a promise is no crash', async () => {
    const tool = sampleRead({}, () => {
      throw new TypeError('at once');
    });
    expect(await run(tool)).toMatchObject({ kind: 'failed', error: { message: 'at once' } });
  });

  it('a handler that does not end in time is told so, and is unknown for a write', async () => {
    let told = false;
    const slow: Handler = (_args, { signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          told = true;
          resolve(1);
        }),
      );
    expect(await run(sampleWrite({ timeoutMs: 20 }, slow))).toMatchObject({
      sent: 'maybe_sent',
      error: { code: 'OUTCOME_UNKNOWN' },
    });
    expect(told).toBe(true);
    expect(await run(sampleRead({ timeoutMs: 20 }, slow))).toMatchObject({
      noEffect: true,
      error: { code: 'TIMEOUT' },
    });
  });

  it('a call that is stopped before it began never runs', async () => {
    let ran = false;
    const tool = sampleWrite({}, async () => void (ran = true));
    expect(await run(tool, { signal: AbortSignal.abort() })).toMatchObject({
      sent: 'not_sent',
      noEffect: true,
      error: { code: 'CANCELLED' },
    });
    expect(ran).toBe(false);
  });

  it('a tool whose handler this pool does not hold was not sent', async () => {
    expect(await createRunner().run(sampleRequest(sampleWrite()))).toMatchObject({
      sent: 'not_sent',
      error: { code: 'UPSTREAM_UNAVAILABLE' },
    });
  });
});
