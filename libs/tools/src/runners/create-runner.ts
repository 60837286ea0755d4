import { isRead } from '#contracts';
import { callError } from '../call-error.ts';
import { makeAgents } from './http-exchange.ts';
import { runHttp } from './http.runner.ts';
import { runLocal, type Handler } from './local.runner.ts';
import { probeHttp, probeLocal, type Probe } from './probe.runner.ts';
import type { ProbeOutcome, ProbeRequest, RunOutcome, RunRequest, Runner } from './runner.port.ts';

export interface RunnerOptions {
  /** Local handlers of this pool by contract digest. */
  readonly handlers?: ReadonlyMap<string, Handler>;
  /** The same tools' probes. */
  readonly probes?: ReadonlyMap<string, Probe>;
  /** The settings that tools may see: `${NAME}` in URLs and headers, and the handlers' `env`. Nothing else of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Values that must never stand in an error's text; default: the settings whose names say that they are secret. */
  readonly secrets?: readonly string[];
  /** Bytes of one answer; default HARD_CAP_BYTES. */
  readonly capBytes?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/;

/** Values of settings whose names say that they are secret: for `secrets` here and in `makeViews`. */
export const secretValues = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));

/** Runs calls by their contract's `execution`. One per process: it holds the kept connections. */
export function createRunner(options: RunnerOptions = {}): Runner {
  const agents = makeAgents();
  const shared = {
    env: options.env ?? {},
    secrets: options.secrets ?? secretValues(options.env ?? {}),
    now: options.now ?? Date.now,
  };
  const http = { ...shared, agents, ...(options.capBytes === undefined ? {} : { capBytes: options.capBytes }) };
  return {
    async run(request: RunRequest): Promise<RunOutcome> {
      const { execution } = request.contract;
      try {
        if (execution.kind === 'http') return await runHttp(execution, request, http);
        const handler = options.handlers?.get(request.digest);
        if (handler) return await runLocal(handler, request, shared);
        const text = 'this pool does not hold the handler of the tool version; deploy its workspace to the pool';
        return { kind: 'failed', sent: 'not_sent', noEffect: true, error: callError('UPSTREAM_UNAVAILABLE', text) };
      } catch {
        // R4: a fault of ours after an unknown point of the attempt
        return {
          kind: 'failed',
          sent: 'maybe_sent',
          noEffect: isRead(request.contract),
          error: callError('INTERNAL', 'the runner failed', { retryable: false }),
        };
      }
    },
    async probe(request: ProbeRequest): Promise<ProbeOutcome> {
      const { reconcile } = request.contract;
      if (reconcile?.http) return probeHttp(reconcile.http, request, http);
      const probe = options.probes?.get(request.digest);
      if (reconcile && probe) return probeLocal(probe, request, shared.env);
      return { kind: 'cannot_tell', evidence: 'This pool does not hold the probe of the tool version.' };
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
