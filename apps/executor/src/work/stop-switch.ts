import type { StopRequest } from '../domain/tool-runner.port.ts';

/**
 * Tells one running call that it is to stop, and after the grace time that nobody waits for it any longer.
 * An object without timers and listeners until it is used: every call has one, few are stopped.
 */
export class StopSwitch implements StopRequest {
  #asked = false;
  #over = false;
  readonly #onAsked: (() => void)[] = [];
  readonly #onOver: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  get asked(): boolean {
    return this.#asked;
  }

  get over(): boolean {
    return this.#over;
  }

  /** @param graceMs for how long the tool may still answer; the first request counts */
  ask(graceMs: number): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#onAsked.splice(0).forEach((listener) => listener());
    this.#timer = setTimeout(() => {
      this.#over = true;
      this.#onOver.splice(0).forEach((listener) => listener());
    }, graceMs);
  }

  whenAsked(listener: () => void): void {
    if (this.#asked) listener();
    else this.#onAsked.push(listener);
  }

  whenOver(listener: () => void): void {
    if (this.#over) listener();
    else this.#onOver.push(listener);
  }

  /** The call has ended. */
  close(): void {
    clearTimeout(this.#timer);
  }
}
