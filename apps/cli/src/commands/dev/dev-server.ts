import type { CheckedWorkspace, CheckResult } from '../../workspace/check-workspace.ts';

/**
 * Keeps services running on a workspace that changes.
 * V1 a workspace is checked before anything is stopped: with a fault the old services go on;
 * V2 one reload at a time; services are drained before the next ones start;
 * V3 services that do not start are told, and the next change tries again.
 */
export interface DevServices {
  stop(): Promise<void>;
}

export interface DevServerOptions {
  readonly check: () => Promise<CheckResult>;
  /** Faults that only show beside what is live, such as a published version that was changed. */
  readonly compare: (workspace: CheckedWorkspace) => Promise<readonly string[]>;
  readonly start: (workspace: CheckedWorkspace) => Promise<DevServices>;
  readonly onEvent: (event: DevEvent) => void;
}

export type DevEvent =
  | { readonly type: 'faults'; readonly faults: readonly string[]; readonly running: boolean }
  | { readonly type: 'starting'; readonly again: boolean }
  | { readonly type: 'ready'; readonly workspace: CheckedWorkspace; readonly again: boolean }
  | { readonly type: 'failed'; readonly message: string };

export class DevServer {
  readonly #options: DevServerOptions;
  #services: DevServices | null = null;
  #reloading: Promise<void> = Promise.resolve();
  #stopped = false;
  #started = false;

  constructor(options: DevServerOptions) {
    this.#options = options;
  }

  get running(): boolean {
    return this.#services !== null;
  }

  /** Resolves when the services run on the workspace as it is, or when it was told why not. */
  reload(): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#reload());
    return this.#reloading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#reloading;
    await this.#services?.stop();
    this.#services = null;
  }

  async #reload(): Promise<void> {
    const { check, compare, start, onEvent } = this.#options;
    const result = await check();
    if (this.#stopped) return;
    const faults = result.ok ? (this.running ? await compare(result.workspace) : []) : result.faults;
    if (!result.ok || faults.length > 0) return onEvent({ type: 'faults', faults, running: this.running });
    const again = this.#started;
    onEvent({ type: 'starting', again });
    await this.#services?.stop();
    this.#services = null;
    if (this.#stopped) return;
    try {
      this.#services = await start(result.workspace);
      this.#started = true;
    } catch (error) {
      return onEvent({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
    onEvent({ type: 'ready', workspace: result.workspace, again });
  }
}
