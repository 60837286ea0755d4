/**
 * First come, first served inside one process: only the head of a resource's line asks the lock server.
 * Lines are joined in sorted order of resources, so that two requests never wait for each other.
 */
export class LocalLine {
  readonly #lines = new Map<string, (() => void)[]>();

  /** Resolves with true at the head of the line, false when `signal` aborts first. */
  async enter(resource: string, signal: AbortSignal): Promise<boolean> {
    const line = this.#lines.get(resource);
    if (!line) {
      this.#lines.set(resource, []);
      return true;
    }
    if (signal.aborted) return false;
    return new Promise<boolean>((resolve) => {
      const turn = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = (): void => {
        const at = line.indexOf(turn);
        if (at >= 0) line.splice(at, 1);
        resolve(false);
      };
      line.push(turn);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** True when somebody stands in this line or is at its head. */
  busy(resource: string): boolean {
    return this.#lines.has(resource);
  }

  leave(resource: string): void {
    const next = this.#lines.get(resource)?.shift();
    if (next) next();
    else this.#lines.delete(resource);
  }
}
