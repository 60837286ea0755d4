import type { OnModuleDestroy } from '@nestjs/common';
import type { Watchers } from '../adapters/watchers.ts';

/** Before the server waits for its open requests, those that wait are answered with what is known. */
export class WatchersLifecycle implements OnModuleDestroy {
  readonly #watchers: Watchers;

  constructor(watchers: Watchers) {
    this.#watchers = watchers;
  }

  onModuleDestroy(): void {
    this.#watchers.stop();
  }
}
