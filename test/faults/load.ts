import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../e2e/system.ts';
import { planText } from '../e2e/plan.script.ts';
import { CLASSES, type Operation, type ToolClass } from './operation.ts';

const TERMINAL = new Set(['succeeded', 'failed', 'denied', 'expired', 'cancelled', 'rejected', 'outcome_unknown']);
const RUN_ENDS = new Set(['completed', 'stopped', 'failed', 'cancelled', 'budget_exhausted']);
/** Resources that operations of all classes but `none` share: their writers wait for each other. */
const BINS = 5;
const AGAIN_MS = 150;
const LOOK_MS = 400;

const TOOL: Record<ToolClass, string> = {
  read: 'faults.read_item',
  natural: 'faults.set_item',
  key: 'faults.add_keyed',
  approved: 'faults.add_approved',
  none: 'faults.add_once',
  reconcile: 'faults.add_asked',
};

export interface LoadOptions {
  readonly gateway: string;
  readonly workers: number;
  readonly prefix: string;
  /** Milliseconds that each worker rests between two operations. */
  readonly restMs?: number;
}

/**
 * Callers that keep asking: a request that fails is made again with its key, as a good client does. What each was told is
 * kept, with the time; approvals are given as they come.
 */
export class Load {
  readonly operations: Operation[] = [];
  readonly #options: LoadOptions;
  readonly #open = new Set<Operation>();
  #loops: Promise<unknown>[] = [];
  #working = false;
  #watching = false;
  #number = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#working = this.#watching = true;
    this.#loops = [
      ...Array.from({ length: this.#options.workers }, () => this.#work()),
      this.#watch(),
      this.#approve(),
    ];
  }

  /** Begins nothing new, waits until all is settled or the time is over, and ends. */
  async finish(patienceMs: number): Promise<void> {
    this.#working = false;
    const end = performance.now() + patienceMs;
    while (performance.now() < end && this.operations.some(({ settledAt }) => settledAt === null)) await pause(100);
    this.#watching = false;
    await Promise.all(this.#loops);
  }

  /** The first settlement of an operation that was begun after `since`. */
  firstProgress(since: number): number | null {
    let first: number | null = null;
    for (const { startedAt, settledAt } of this.operations)
      if (startedAt >= since && settledAt !== null && (first === null || settledAt < first)) first = settledAt;
    return first;
  }

  async #work(): Promise<void> {
    while (this.#working) {
      const n = ++this.#number;
      await (n % 9 === 0 ? this.#agentRun(n) : this.#call(n));
      if (this.#options.restMs) await pause(this.#options.restMs);
    }
  }

  async #call(n: number): Promise<void> {
    const toolClass = CLASSES[n % CLASSES.length]!;
    const how = n % 13 === 0 ? 'drop-' : n % 7 === 0 ? 'slow-' : '';
    const item = `${how}${this.#options.prefix}-${n}`;
    const operation = this.#begin({ kind: 'call', toolClass, items: [{ item, toolClass }] });
    const bin = toolClass === 'none' ? item : `bin-${n % BINS}`;
    const body = { tool: TOOL[toolClass], arguments: { item, bin }, taskId: item };
    const wait: Record<string, string> = n % 3 === 0 ? {} : { prefer: 'wait=2' };
    await this.#ask(operation, '/v1/calls', body, { 'idempotency-key': `"${item}"`, ...wait });
  }

  async #agentRun(n: number): Promise<void> {
    const name = `${this.#options.prefix}-${n}`;
    const items = (['read', 'key', 'none'] as const).map((toolClass) => ({ item: `${name}-${toolClass}`, toolClass }));
    const call = ({ item, toolClass }: (typeof items)[number]) => ({
      tool: TOOL[toolClass],
      arguments: { item, bin: item },
    });
    const operation = this.#begin({ kind: 'run', toolClass: 'key', items });
    const input = planText({ turns: [[call(items[0]!), call(items[1]!)], [call(items[2]!)]] });
    const body = { agent: 'faults', input, taskId: name };
    await this.#ask(operation, '/v1/runs', body, { 'idempotency-key': `"${name}"` });
  }

  #begin(about: Pick<Operation, 'kind' | 'toolClass' | 'items'>): Operation {
    const operation: Operation = { ...about, startedAt: performance.now(), settledAt: null, told: [], refusals: [] };
    this.operations.push(operation);
    return operation;
  }

  async #ask(operation: Operation, path: string, body: unknown, headers: Record<string, string>): Promise<void> {
    while (this.#watching) {
      const answer = await ask<Answer>(this.#options, 'alice', 'POST', path, body, headers).catch(() => null);
      if (answer !== null && answer.status < 300) {
        operation.runId = answer.body.runId;
        operation.callId = answer.body.callId;
        this.#open.add(operation);
        return this.#note(operation, answer.body);
      }
      if (answer !== null && answer.status < 500 && answer.status !== 429) {
        operation.refusals.push(`${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`);
        operation.settledAt = performance.now();
        return;
      }
      await pause(AGAIN_MS);
    }
  }

  #note(operation: Operation, { status: said, ok, effect, error }: Answer): void {
    const status = ok === true ? 'succeeded' : said;
    const over = operation.kind === 'call' ? TERMINAL : RUN_ENDS;
    if (status === undefined || !over.has(status)) return;
    operation.told.push({ status, effect: ok === true ? null : (effect ?? null), code: error?.code ?? null });
    operation.settledAt ??= performance.now();
    this.#open.delete(operation);
  }

  /** Looks at what was only accepted; what was told at once is looked at again at the end, by the checker. */
  async #watch(): Promise<void> {
    while (this.#watching) {
      for (const operation of [...this.#open]) {
        const { kind, callId, runId } = operation;
        const path = kind === 'call' ? `/v1/calls/${callId}` : `/v1/runs/${runId}`;
        const answer = await ask<Answer>(this.#options, 'alice', 'GET', path).catch(() => null);
        if (answer?.status === 200) this.#note(operation, answer.body);
        if (answer === null) break;
      }
      await pause(LOOK_MS);
    }
  }

  async #approve(): Promise<void> {
    while (this.#watching) {
      const list = await ask<{ items: { approvalId: string; digest: string }[] }>(
        this.#options,
        'bob',
        'GET',
        '/v1/approvals?status=pending&limit=100',
      ).catch(() => null);
      for (const { approvalId, digest } of list?.body.items ?? []) {
        const decision = { decision: 'approved', digest, reason: 'load' };
        const path = `/v1/approvals/${approvalId}/decision`;
        await ask(this.#options, 'bob', 'POST', path, decision, { 'idempotency-key': approvalId }).catch(() => null);
      }
      await pause(LOOK_MS);
    }
  }
}

interface Answer {
  readonly runId: string;
  readonly callId?: string;
  readonly status?: string;
  readonly ok?: boolean;
  readonly effect?: string;
  readonly error?: { readonly code: string } | null;
}
