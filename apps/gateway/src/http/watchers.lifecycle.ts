import type { OnModuleDestroy } from '@nestjs/common';
import type { RunStreams } from '../adapters/run-streams.ts';
import type { Watchers } from '../adapters/watchers.ts';

/** Before the server waits for its open requests, those that wait are answered with what is known, and those that watch are ended. */
export class WatchersLifecycle implements OnModuleDestroy {
  readonly #watchers: Watchers;
  readonly #streams: RunStreams;

  constructor(watchers: Watchers, streams: RunStreams) {
    this.#watchers = watchers;
    this.#streams = streams;
  }

  onModuleDestroy(): void {
    this.#watchers.stop();
    this.#streams.stop();
  }
}
