import type { ResultViews } from '#contracts';
import { errorFields, type Log } from '#runtime';
import { sourceKey, type PreparedCall } from '../domain/prepared-call.ts';
import type { ProbeOutcome, ToolRunner, ViewMaker } from '../domain/tool-runner.port.ts';

export interface Probed {
  readonly kind: ProbeOutcome['kind'];
  readonly evidence: string;
  /** Of a write that is found to be applied, where the probe gives it. */
  readonly result: ResultViews | null;
}

export interface ProberOptions {
  readonly runner: ToolRunner;
  readonly views: ViewMaker;
  readonly log: Log;
}

const NEVER = new AbortController().signal;

/** Asks a tool what became of a write, by the probe of its contract; what it answers passes the same views (G10). */
export class Prober {
  readonly #options: ProberOptions;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** Never throws: what fails cannot tell. @param takenBack how often the key was taken back before the call acted */
  async probe(call: PreparedCall, takenBack: number | null, signal: AbortSignal = NEVER): Promise<Probed> {
    const { contract, claims, granted, callId } = call;
    try {
      const outcome = await this.#options.runner.probe({
        contract,
        digest: claims.contractDigest,
        arguments: granted.data.arguments,
        operationKey: sourceKey(call, takenBack),
        callId,
        tenant: claims.tenant,
        signal,
      });
      const { kind, evidence } = outcome;
      return { kind, evidence, result: outcome.kind === 'applied' ? await this.#viewsOf(call, outcome) : null };
    } catch (error) {
      this.#options.log.warn({ ...errorFields(error), callId, tool: claims.tool }, 'the probe failed');
      return { kind: 'cannot_tell', evidence: 'The probe failed.', result: null };
    }
  }

  async #viewsOf(call: PreparedCall, { value, raw }: ProbeOutcome & { kind: 'applied' }): Promise<ResultViews | null> {
    if (raw === undefined) return null;
    const about = { callId: call.callId, tool: call.claims.tool, tenant: call.claims.tenant };
    try {
      return await this.#options.views(call.contract, value, raw, about);
    } catch (error) {
      this.#options.log.error({ ...errorFields(error), callId: call.callId }, 'the views could not be made');
      return null;
    }
  }
}
