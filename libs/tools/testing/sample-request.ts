import type { DefinedTool, RunRequest } from '#tools';

export const SAMPLE_CALL = 'call_01jd0000000000000000000000_0001';

/** A first attempt at a call of this tool. */
export function sampleRequest(tool: DefinedTool, changes: Partial<RunRequest> = {}): RunRequest {
  return {
    contract: tool.contract,
    digest: tool.digest,
    arguments: {},
    operationKey: 'dev/user:alice/sample',
    callId: SAMPLE_CALL,
    tenant: 'dev',
    attempt: 1,
    signal: new AbortController().signal,
    onSending: () => undefined,
    ...changes,
  };
}
