import { toolKey } from '#contracts';
import type { QuarantineList } from '#registry';
import type { ToolRunner } from '../domain/tool-runner.port.ts';

/** The last look before the send, for calls that were admitted, or waited in line, before their tool was quarantined. */
export function refuseQuarantined(runner: ToolRunner, quarantine: Pick<QuarantineList, 'has'>): ToolRunner {
  return {
    // A probe only looks: what a quarantined tool did before is still found out.
    probe: (request) => runner.probe(request),
    run(request) {
      if (!quarantine.has(request.tenant, toolKey(request.contract))) return runner.run(request);
      return Promise.resolve({
        kind: 'failed',
        sent: 'not_sent',
        noEffect: true,
        error: {
          code: 'PERMISSION_DENIED',
          message: 'the tool was quarantined, or the tenant suspended, before the call was sent',
          retryable: false,
          retryAfterMs: null,
          requiresApproval: false,
          userActionRequired: false,
          humanTakeover: false,
          changeArguments: false,
        },
      });
    },
  };
}
