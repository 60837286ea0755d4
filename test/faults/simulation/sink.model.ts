import type { CallProposed } from '#contracts';
import type { RunOutcome } from '../../../apps/executor/src/domain/tool-runner.port.ts';
import { executorError } from '../../../apps/executor/src/domain/settlement.ts';
import { contractOf } from './sim-tools.ts';

const maybe: RunOutcome = { kind: 'failed', sent: 'maybe_sent', noEffect: false, error: executorError('TIMEOUT') };
const away: RunOutcome = {
  kind: 'failed',
  sent: 'not_sent',
  noEffect: true,
  error: executorError('UPSTREAM_UNAVAILABLE'),
};
const refused: RunOutcome = { kind: 'failed', sent: 'answered', noEffect: true, error: executorError('TOOL_ERROR') };
const done = { kind: 'answered', value: {}, raw: Buffer.from('{}') } as unknown as RunOutcome;

/** The world outside: it counts what happens to it, whatever anybody is told. */
export class SinkModel {
  /** Changes per operation of the class `key`, `natural` or `none`. */
  readonly effects = new Map<string, number>();
  /** Calls that a change came from. */
  readonly causedBy = new Set<string>();
  readonly reachedBy = new Set<string>();
  readonly #void = new Set<string>();

  /** @param fate what becomes of the request: answered, refused, lost before it came, lost before or after its effect */
  request(call: CallProposed, callId: string, fate: number): RunOutcome {
    if (fate === 1) return away;
    if (fate === 2) return maybe;
    this.reachedBy.add(callId);
    if (call.effectClass === 'read') return fate === 3 ? maybe : done;
    // The same request is always refused: what is refused has no effect, however often it comes.
    if (String(call.arguments.item).startsWith('refused')) return fate === 3 ? maybe : refused;
    if (this.#void.has(call.operationKey)) return fate === 3 ? maybe : refused;
    const { mode } = contractOf(call.contractDigest).idempotency;
    const key = mode === 'natural' ? `${call.tool}/${JSON.stringify(call.arguments)}` : call.operationKey;
    if (mode === 'none' || !this.effects.has(key)) {
      this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
      this.causedBy.add(callId);
    }
    return fate === 3 ? maybe : done;
  }

  /** What became of an operation, if anybody can tell; one that did not arrive is refused from now on, so "not applied" is final. */
  probe(call: CallProposed, fate: number): 'applied' | 'not_applied' | 'cannot_tell' {
    if (fate === 1 || fate === 2) return 'cannot_tell';
    if (this.effects.has(call.operationKey)) return 'applied';
    this.#void.add(call.operationKey);
    return 'not_applied';
  }
}
