import { setTimeout as pause } from 'node:timers/promises';
import type { GrantedCall, PreparedCall } from '../domain/prepared-call.ts';

/** Calls of this process that wait for a key or a resource are told when a call of this process has freed it. */
export class WakeUps {
  readonly #sleepers = new Map<string, Set<AbortController>>();

  /** Sleeps until woken, aborted or `ms` are over. */
  async sleep(call: PreparedCall, ms: number, signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    const tags = tagsOf(call);
    for (const tag of tags) this.#at(tag).add(wake);
    await pause(ms, undefined, { signal: AbortSignal.any([wake.signal, signal]) }).catch(() => undefined);
    for (const tag of tags) {
      const set = this.#at(tag);
      set.delete(wake);
      if (set.size === 0) this.#sleepers.delete(tag);
    }
  }

  wake(call: GrantedCall | PreparedCall): void {
    if (this.#sleepers.size === 0) return;
    for (const tag of tagsOf(call)) for (const sleeper of this.#sleepers.get(tag) ?? []) sleeper.abort();
  }

  #at(tag: string): Set<AbortController> {
    let set = this.#sleepers.get(tag);
    if (!set) this.#sleepers.set(tag, (set = new Set()));
    return set;
  }
}

const tagsOf = (call: GrantedCall | PreparedCall): string[] => [
  `key/${call.claims.tenant}/${call.tool}/${call.keyHash}`,
  ...('holds' in call ? call.holds.map((hold) => `hold/${call.claims.tenant}/${hold}`) : []),
];
