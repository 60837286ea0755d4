import type { Incoming } from '#bus';
import type { Message } from '#contracts';

/** What this process listens for, in its own group from latest. */
export const WATCHED = [
  'RunStarted',
  'RunResumed',
  'CompensationAsked',
  'CompensationStarted',
  'CompensationEnded',
  'RunControlled',
  'TurnRecorded',
  'RunEnded',
  'CommandRefused',
  'CallAllowed',
  'CallSettled',
  'CallReconciled',
  'ResolutionRefused',
  'ApprovalRequested',
  'ApprovalDecided',
  'ApprovalCounted',
  'ApprovalEdited',
  'ApprovalSuperseded',
  'ApprovalWithdrawn',
  'ApprovalRefused',
  'StandingGranted',
  'StandingRevoked',
  'StandingRefused',
] as const;
export type WatchedType = (typeof WATCHED)[number];

type Watched = Message<WatchedType>;

/** Keys carry the tenant: a message of another tenant wakes nobody (G12). */
export const keys = {
  started: (tenant: string, runId: string): string => `${tenant} started ${runId}`,
  ended: (tenant: string, runId: string): string => `${tenant} ended ${runId}`,
  settled: (tenant: string, callId: string): string => `${tenant} settled ${callId}`,
  /** Something became known of an unknown outcome, whoever found it out. */
  reconciled: (tenant: string, callId: string): string => `${tenant} reconciled ${callId}`,
  /** Policy has judged the call: it was admitted. */
  judged: (tenant: string, callId: string): string => `${tenant} judged ${callId}`,
  /** What a command led to: refusals, decisions of approvals, resumed and controlled runs, ways back. */
  command: (tenant: string, commandId: string): string => `${tenant} command ${commandId}`,
};

function keyOf(message: Watched): string | null {
  switch (message.type) {
    case 'RunStarted':
      return keys.started(message.tenant, message.runId ?? '');
    case 'RunEnded':
      return keys.ended(message.tenant, message.runId ?? '');
    case 'CallSettled':
      return keys.settled(message.tenant, message.callId ?? '');
    case 'CallReconciled':
      return keys.reconciled(message.tenant, message.callId ?? '');
    case 'CallAllowed':
    case 'ApprovalRequested':
      return keys.judged(message.tenant, message.callId ?? '');
    case 'TurnRecorded':
    case 'CompensationAsked':
    case 'CompensationEnded':
    case 'ApprovalSuperseded':
      return null;
    case 'CompensationStarted':
      return message.data.commandId === null ? null : keys.command(message.tenant, message.data.commandId);
    case 'RunResumed':
    case 'RunControlled':
    case 'CommandRefused':
    case 'ResolutionRefused':
    case 'ApprovalDecided':
    case 'ApprovalCounted':
    case 'ApprovalEdited':
    case 'ApprovalWithdrawn':
    case 'ApprovalRefused':
    case 'StandingGranted':
    case 'StandingRevoked':
    case 'StandingRefused':
      return keys.command(message.tenant, message.data.commandId);
  }
}

/**
 * Requests of this process that wait for messages.
 * W1 a watch is opened before the command is published, so that nothing can slip by;
 * W2 what arrives is a hint of the moment, never the only way to know: who waits also asks the read ports;
 * W3 `stop` wakes all, so that a drain does not wait for the longest request.
 */
export class Watchers {
  readonly #watches = new Map<string, Set<Watch>>();
  readonly #open = new Set<Watch>();
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  open(watched: readonly string[]): Watch {
    const watch: Watch = new Watch(watched, {
      close: () => this.#forget(watch),
      add: (key) => this.#add(key, watch),
    });
    for (const key of watched) this.#add(key, watch);
    this.#open.add(watch);
    if (this.#stopped) watch.end();
    return watch;
  }

  deliver(batch: readonly Incoming<WatchedType>[]): void {
    for (const { message } of batch) {
      const key = keyOf(message);
      if (key === null) continue;
      for (const watch of this.#watches.get(key) ?? []) watch.see(key, message);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const watch of this.#open) watch.end();
  }

  /** Watches that are open; for tests and metrics. */
  get size(): number {
    return this.#open.size;
  }

  #add(key: string, watch: Watch): void {
    const set = this.#watches.get(key);
    if (set) set.add(watch);
    else this.#watches.set(key, new Set([watch]));
  }

  #forget(watch: Watch): void {
    this.#open.delete(watch);
    for (const key of watch.watched) {
      const set = this.#watches.get(key);
      if (!set) continue;
      set.delete(watch);
      if (set.size === 0) this.#watches.delete(key);
    }
  }
}

interface WatchOwner {
  close(): void;
  add(key: string): void;
}

/** What one request waits for. */
export class Watch {
  readonly #watched: Set<string>;
  readonly #seen = new Map<string, Watched>();
  readonly #owner: WatchOwner;
  #wake: (() => void) | null = null;
  #ended = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(watched: readonly string[], owner: WatchOwner) {
    this.#watched = new Set(watched);
    this.#owner = owner;
  }

  get watched(): Iterable<string> {
    return this.#watched;
  }

  /** Watches another key too, from now on. */
  follow(key: string): void {
    if (this.#watched.has(key)) return;
    this.#watched.add(key);
    this.#owner.add(key);
  }

  /** The message that came under this key, if one did. */
  get<T extends WatchedType>(key: string, type: T): Message<T> | undefined {
    const message = this.#seen.get(key);
    return message?.type === type ? (message as unknown as Message<T>) : undefined;
  }

  see(key: string, message: Watched): void {
    this.#seen.set(key, message);
    this.#wake?.();
  }

  /** Makes the one who waits throw. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake?.();
  }

  /** Makes the one who waits give up. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Looks now and after each message, until there is an answer or the time is over (undefined). */
  async until<T>(look: () => T | undefined, timeoutMs: number): Promise<T | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      const found = look();
      if (found !== undefined) return found;
      const rest = deadline - performance.now();
      if (this.#ended || rest <= 0) return undefined;
      await this.#next(rest);
    }
  }

  close(): void {
    this.#owner.close();
  }

  #next(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), Math.ceil(timeoutMs));
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
    });
  }
}
